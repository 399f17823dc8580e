// SPDX-License-Identifier: Apache-2.0
// This process as a rank of the virtual machine: its time, its turn, and what it sends and gets.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/accesses.hpp"
#include "fabric/calling_threads.hpp"
#include "fabric/completions.hpp"
#include "fabric/computing.hpp"
#include "fabric/deadlock.hpp"
#include "fabric/delay.hpp"
#include "fabric/endpoint.hpp"
#include "fabric/exceeded.hpp"
#include "fabric/flows.hpp"
#include "fabric/heap.hpp"
#include "fabric/inbox.hpp"
#include "fabric/interface.hpp"
#include "fabric/looks.hpp"
#include "fabric/machine/wires.hpp"
#include "fabric/membership.hpp"
#include "fabric/present_call.hpp"
#include "fabric/real_time.hpp"
#include "fabric/scheduler.hpp"
#include "fabric/stop_run.hpp"
#include "fabric/waits/other_threads.hpp"
#include "host/life_line.hpp"
#include "host/memory_limit.hpp"
#include "preloaded/lasting.hpp"

namespace nhalf::fabric {

class Rank {
 public:
  static Rank& here() { return preloaded::lasting<Rank>(); }

  /// Opens the region that NHALF_FABRIC names; false for a process that is no rank.
  bool open() {
    if (region_ != nullptr) return true;
    const auto number = number_of_launcher();
    const auto memory = shared_memory();
    if (!number || memory.empty()) return false;
    region_ = reinterpret_cast<Region*>(memory.data());
    region_bytes_ = std::min<std::size_t>(memory.size(), memory_limit_bytes() / memory_share);
    wires_ = Wires::read(region_->description.data());
    if (!wires_ || *number >= wires_->ranks()) {
      region_ = nullptr;
      return false;
    }
    number_ = *number;
    heap_.emplace(*region_, region_bytes_);
    flows_.emplace(*region_, *heap_, wires_->routes, wires_->ranks());
    scheduler_.emplace(*region_, *flows_, number_, wires_->ranks());
    return true;
  }

  /// Takes part in virtual time; all ranks do before the first one goes on.
  void join() {
    if (std::exchange(has_joined_, true)) return;
    process_ = getpid();
    OtherThreads::here().note_end();
    pthread_atfork(nullptr, nullptr, [] { CallingThreads::forget(); });
    on_exit([](int code, void*) { here().note_exit(code); }, nullptr);
    hold_life_line();
    calling_threads_.note();
    scheduler_->begin();
    computing_.begin(wires_->computing_permille);
  }
  /// The process ends, maybe without MPI_Finalize; a launcher may end the others before `leave`.
  void note_exit(int code) {
    if (is_running()) member().exit = 1 | static_cast<std::uint64_t>(code & 0xff) << 8;
  }
  /// The program has ended; its library may go on.
  void finish() {
    if (!is_running()) return;
    advance_computing();
    member().presence = Presence::finished;
    end_ = now();
  }
  void leave() {
    if (!is_running()) return;
    if (end_ != never) member().now = end_;
    has_left_ = true;
    scheduler_->end(end_ == never ? Presence::gone : Presence::left);
  }

  [[nodiscard]] bool has_endpoint() const { return !endpoints_.empty(); }
  [[nodiscard]] bool is_running() const {
    return has_joined_ && !has_left_ && process_ == getpid();
  }
  /// Whether this thread's time is virtual.
  [[nodiscard]] bool is_virtual() const {
    return CallingThreads::is_one() && has_joined_ && !has_left_;
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int ranks() const { return wires_->ranks(); }
  /// The node of every rank.
  [[nodiscard]] const std::vector<int>& nodes() const { return wires_->nodes(); }
  [[nodiscard]] bool shares_node() const {
    const auto own = nodes()[static_cast<std::size_t>(number_)];
    return std::count(nodes().begin(), nodes().end(), own) > 1;
  }
  [[nodiscard]] const Wire& wire_from(int rank) const { return wires_->between(rank, number_); }
  [[nodiscard]] Picoseconds now() const { return has_joined_ ? own_member().now : 0; }
  [[nodiscard]] std::uint64_t sent_bytes() const { return own_member().bytes; }
  [[nodiscard]] std::uint64_t sent_messages() const { return own_member().messages; }
  [[nodiscard]] std::uint64_t received_bytes() const { return received_bytes_; }
  /// Whether what goes on here is within a call of MPI.
  [[nodiscard]] bool is_in_call() const { return call_.has_this(calling_threads_); }
  Delay& delay() { return delay_; }

  bool enter(const MpiCall& call) {
    if (!calling_threads_.enter())
      stop("threads", "two threads of a rank are in calls of MPI at once, which is not supported");
    if (!call_.begin(call)) return false;
    polls_per_event_ = polls_per_event(call.name);
    free_polls_ = looks_in_call_ = accesses_in_call_ = 0;
    if (!has_joined_) OtherThreads::here().note_begin();
    if (!is_running()) return true;
    // What comes then is computing again if this call is left without its end.
    count_computing();
    scheduler_->note_event();
    auto& doing = slot().doing;
    std::snprintf(doing.call.data(), doing.call.size(), "%s", call.name);
    wait_for(call.peer, call.tag, call.is_world);
    return true;
  }
  void wait_for(int peer, int tag, bool is_world) { slot().doing.wait_for(peer, tag, is_world); }
  void exit() {
    call_.end();
    if (!has_joined_) OtherThreads::here().note_end();
    looks_at_clock_ = 0;
    if (is_running()) {
      if (++calls_in_turn_ > free_looks) look_between_calls();
      slot().doing.call[0] = '\0';
      computing_.resume();
    }
    calling_threads_.exit();
  }

  /// Reads the clock. The program pays for it, so that a loop on the clock ends; the library only
  /// where it does nothing else, so that it takes what the machine's messages take.
  Picoseconds clock() {
    // Virtual time has not begun; a loop on the clock ends even so.
    if (region_ == nullptr) return early_ += Wires().clock_read;
    // The clock of a rank is moved by those of its threads that call MPI.
    if (!CallingThreads::is_one())
      return calling_threads_.may_read(now()) ? now() : member().now += wires_->clock_read;
    if (!is_in_call()) {
      slot().doing.call[0] = '\0';
      note_event();
      count_computing();
      member().now += wires_->clock_read;
      if (++calls_in_turn_ > free_looks && calling_threads_.is_alone()) settle();
    } else if (++looks_at_clock_ > free_looks) {
      member().now += wires_->clock_read;
    }
    return now();
  }
  /// Sleeps as the program asks. Others may change meanwhile what it looks at.
  void sleep(Picoseconds time) {
    count_computing();
    sleep_until(never - now() > time ? now() + time : never);
  }
  /// What the program computes until then is a part of it.
  void sleep_until(Picoseconds time) {
    count_computing();
    if (time > last_time) stop("time", time_exceeded(number_));
    member().now = std::max(now(), time);
    if (calling_threads_.is_alone()) settle();
  }

  Endpoint& add_endpoint() {
    const auto number = static_cast<std::uint32_t>(endpoints_.size());
    return *endpoints_.emplace_back(std::make_unique<Endpoint>(number));
  }
  Completions& add_queue() { return *queues_.emplace_back(std::make_unique<Completions>()); }

  /// Sends; `context` is that of the completion, if one is wanted.
  void send(Endpoint& from, Address to, const Envelope& envelope, std::span<const iovec> parts,
            std::optional<void*> context) {
    join();
    const auto size_bytes = bytes_in(parts);
    run_ahead(size_bytes);
    note_event();
    auto& message = placed(size_bytes);
    gather(parts, message.body());
    message.envelope = envelope;
    message.source = {static_cast<std::uint32_t>(number_), from.number};
    message.target = to.rank;
    message.endpoint = to.endpoint;
    auto* const queue = context ? from.of_sends : nullptr;
    const bool is_awaited = schedule(message, queue != nullptr);
    ++region_->messages;
    if (queue == nullptr) return;
    Completion sent(now(), *context);
    sent.size_bytes = size_bytes;
    sent.envelope = envelope;
    if (is_awaited)
      departing_.push_back({message.flow.departure, queue, sent});
    else
      queue->add(sent);
  }

  /// Reaches into the memory of another rank: `parts` go there with the access.
  void access(Endpoint& from, Address to, const Access& access, std::span<const iovec> parts,
              Asked asked) {
    join();
    const auto bytes = bytes_in(parts);
    run_ahead(bytes);
    if (to.rank == static_cast<std::uint32_t>(number_)) {
      // A rank that tries its own lock until another one gives it back needs time to pass.
      member().now += wires_->empty_look;
      settle();
    }
    if (++accesses_in_call_ % accesses_between_looks == 0) find_endless_loop();
    auto& message = placed(access, bytes);
    Access::in(message).number = accesses_.ask(std::move(asked));
    gather(parts, Access::data_in(message));
    message.source = {static_cast<std::uint32_t>(number_), from.number};
    message.target = to.rank;
    message.endpoint = to.endpoint;
    schedule(message, false);
    ++region_->messages;
  }
  Accesses& accesses() { return accesses_; }

  void receive(Endpoint& at, Receive receive, bool is_tagged) {
    if (is_running()) check_thread();
    at.post(std::move(receive), is_tagged, now(), [this](Message& used) { release(used); });
  }

  /// Looks for a message that a selection takes; null if there is none.
  Message* look(Endpoint& at, const Selection& selection) {
    join();
    settle();
    free_polls_ = 0;
    if (auto* message = at.tagged().message_for(selection)) return found(message);
    // A look in vain is an empty poll: time passes until something happens here.
    pause();
    return found(at.tagged().message_for(selection));
  }
  void discard(Endpoint& at, Message& message) {
    at.tagged().remove(&message);
    release(message);
  }
  bool receive_claimed(Endpoint& at, Receive receive, Message& message) {
    if (!at.receive_claimed(std::move(receive), message, now())) return false;
    release(message);
    return true;
  }

  /// Goes on until something is complete, or has to be looked for elsewhere; whether it is.
  bool poll(Completions& queue) {
    if (region_ == nullptr || has_left_) return false;
    if (!has_joined_) {
      // Libraries exchange addresses outside the network before they wait for messages.
      if (!has_receives()) return false;
      check_thread();
      join();
    }
    check_thread();
    // Who waits comes to its turn when something is there, which is not before now.
    if (call_.is_look()) settle();
    if (queue.due() > now()) pause();
    return queue.due() <= now();
  }
  /// Takes a completion and pays for it.
  Completion take(Completions& queue) {
    const auto completion = queue.take();
    // That there is no message is no event.
    if (completion.failure != Failure::no_message) polls_since_event_ = looks_in_call_ = 0;
    member().now += completion.cost;
    return completion;
  }

  /// Ends the run, here and everywhere.
  [[noreturn]] void stop(std::string_view kind, std::string_view reason) {
    if (!open()) std::abort();
    fabric::stop(*region_, kind, reason);
  }

 private:
  /// The completion of a send whose message has not left yet, in the order in which they leave.
  struct Departing {
    Offset place;
    Completions* queue;
    Completion sent;
  };

  /// Longer messages occupy their sender until they have left it.
  static constexpr std::size_t eager_bytes = 16384;
  static constexpr std::size_t ahead_messages_max = 64;
  /// Messages have half of the memory at most; ranks and other programs need the rest.
  static constexpr std::uint64_t memory_share = 2;
  static constexpr std::size_t ahead_bytes_max = 1 << 20;

  Member& member() { return region_->members[static_cast<std::size_t>(number_)]; }
  [[nodiscard]] const Member& own_member() const {
    return region_->members[static_cast<std::size_t>(number_)];
  }
  Slot& slot() { return region_->slots[static_cast<std::size_t>(number_)]; }
  [[nodiscard]] bool has_receives() {
    return std::any_of(endpoints_.begin(), endpoints_.end(),
                       [](auto& endpoint) { return endpoint->tagged().has_receives(); });
  }
  void advance_computing() {
    const auto time = computing_.since();
    if (time == 0) return;
    const auto noise = wires_->noise.added(time, Noisy::computing, number_, ++computings_);
    member().now += time + noise;
  }
  void count_computing() {
    advance_computing();
    computing_.resume();
  }
  /// Progress threads of libraries, and those of programs without wrapped calls.
  void check_thread() {
    if (!calling_threads_.may_poll())
      stop("threads", "a thread beside the calls of MPI, as a progress thread, polls the network");
    looks_at_clock_ = 0;
  }
  /// Waits for the turn of what happens now, and takes what has arrived by now.
  void settle() {
    check_thread();
    ahead_messages_ = ahead_bytes_ = 0;
    pass_until(now());
    drain(now());
  }
  /// Lets a rank send before its turn: messages leave at events of their own, in the order of time.
  /// Those that wait for it take memory, so from time to time the others catch up.
  void run_ahead(std::size_t size_bytes) {
    check_thread();
    ahead_bytes_ += size_bytes;
    if (++ahead_messages_ > ahead_messages_max || ahead_bytes_ > ahead_bytes_max) settle();
  }
  /// Lets time pass. Accesses to this rank's memory are served at their own times, for which the
  /// rank does not have to wait; one that waits sees then what has changed.
  void pass_until(Picoseconds time) {
    calls_in_turn_ = 0;
    for (;;) {
      const auto due = slot().accesses > 0 ? Inbox(*region_, number_).due() : never;
      scheduler_->pass_until(std::min(time, due));
      const auto reached = region_->next[static_cast<std::size_t>(number_)];
      const bool is_served = slot().accesses > 0 && Inbox(*region_, number_).due() <= reached;
      if (is_served) drain(reached);
      if (!is_served || (slot().is_idle != 0 && reached >= now())) {
        if (reached != never) member().now = std::max(now(), reached);
        return;
      }
      // What has changed is seen when this rank's own time has come.
      if (slot().is_idle != 0) time = std::min(time, now());
    }
  }
  /// Takes what has left and what has come by a time.
  void drain(Picoseconds time) {
    for (; departure() <= time; departing_.pop_front()) {
      auto& [place, queue, sent] = departing_.front();
      sent.at = departure();
      queue->add(sent);
      heap_->give_back(place, sizeof(Departure));
    }
    Inbox inbox(*region_, number_);
    while (inbox.due() <= time) {
      note_event();
      auto& message = inbox.take();
      if (message.source.rank != static_cast<std::uint32_t>(number_))
        received_bytes_ += message.size_bytes;
      if (message.is_access) {
        --slot().accesses;
        serve(message);
        continue;
      }
      const bool is_known = message.endpoint < endpoints_.size();
      if (!is_known || endpoints_[message.endpoint]->arrive(message, time)) release(message);
    }
  }
  /// Does what another rank asks, or takes its answer.
  void serve(Message& message) {
    if (Access::in(message).kind == Access::Kind::answer)
      take_answer(message);
    else
      answer(message);
    release(message);
  }
  void answer(Message& asked) {
    const auto& access = Access::in(asked);
    const auto bytes = Accesses::answer_bytes(access);
    auto& message = placed(access, bytes);
    Access& head = Access::in(message);
    head.kind = Access::Kind::answer;
    head.size_bytes = bytes;
    head.has_failed = !accesses_.serve(access, Access::data_in(asked), Access::data_in(message));
    message.source = {static_cast<std::uint32_t>(number_), asked.endpoint};
    message.target = asked.source.rank;
    message.endpoint = asked.source.endpoint;
    ++region_->messages;
    if (message.target == message.source.rank)
      arrive_here(message, asked.arrival);
    else
      leave_at(message, asked.arrival);
  }
  void take_answer(Message& message) {
    const auto& access = Access::in(message);
    const auto asked = accesses_.answered(access.number);
    scatter(asked.parts, 0, Access::data_in(message), static_cast<std::size_t>(access.size_bytes));
    if (asked.counter != nullptr) ++*asked.counter;
    auto* const queue = endpoints_[message.endpoint]->of_sends;
    if (queue == nullptr || !(asked.is_reported || access.has_failed)) return;
    queue->add(asked.completion(message));
  }

  /// Returns when the first message that this rank waits for has left it, if that is known.
  [[nodiscard]] Picoseconds departure() const {
    return departing_.empty() ? never : region_->at<Departure>(departing_.front().place).at;
  }

  /// A library that has found a message polls once more before its call ends, which must not wait.
  Message* found(Message* message) {
    free_polls_ = message == nullptr ? 0 : free_polls_max;
    return message;
  }

  /// Lets time pass after a look in vain: until something happens to this rank if its call waits,
  /// else a moment.
  void pause() {
    if (free_polls_ > 0) {
      --free_polls_;
      return;
    }
    const bool is_elsewhere = std::any_of(queues_.begin(), queues_.end(),
                                          [&](auto& queue) { return queue->due() <= now(); });
    if (is_elsewhere || call_.is_look()) {
      // A look at several places is one look; where a call waits, it costs nothing.
      const bool is_first = looks_in_call_++ == 0 && call_.is_look();
      if (is_first || looks_in_call_ > looks_at_once) look_in_vain();
      return;
    }
    // Libraries go on with what an event allows when they poll again, some not every time.
    if (++polls_since_event_ <= polls_per_event_) return;
    auto next = std::min(Inbox(*region_, number_).due(), departure());
    for (const auto& queue : queues_) next = std::min(next, queue->due());
    ahead_messages_ = ahead_bytes_ = 0;
    slot().is_idle = 1;
    pass_until(std::max(next, now()));
    slot().is_idle = 0;
    if (region_->next[static_cast<std::size_t>(number_)] == never)
      find_deadlock();
    else
      polls_since_event_ = 0;
    drain(now());
  }
  /// Something has happened to this rank, or it acts.
  void note_event() {
    looks_in_vain_ = 0;
    polls_since_event_ = 0;
    slot().has_looked_long = 0;
  }
  void look_in_vain() {
    member().now += wires_->empty_look;
    ++looks_in_vain_;
    if (looks_in_vain_ >= looks_in_vain_many && std::has_single_bit(looks_in_vain_))
      let_all_poll(*region_, ranks(), now());
    if (looks_in_vain_ == looks_in_vain_max) find_endless_loop();
  }
  /// A loop of calls that find nothing to do, as flushes of a window, ends by another rank.
  void look_between_calls() {
    if (!call_.waits()) return;
    look_in_vain();
    settle();
    calls_in_turn_ = free_looks;
  }
  /// A loop that neither reads the clock nor sends ends by a message only.
  void find_endless_loop() {
    looks_in_vain_ = 0;
    const bool is_due = std::any_of(queues_.begin(), queues_.end(),
                                    [](auto& queue) { return queue->due() != never; });
    if (is_due || !departing_.empty() || flows_->due() != never) return;
    slot().has_looked_long = 1;
    if (can_nothing_happen(*region_, ranks())) stop("deadlock", who_waits(*region_, ranks()));
  }
  void find_deadlock() {
    const auto quiet_ns = scheduler_->quiet_ns();
    // Who waits for something outside the network needs the processor more.
    if (quiet_ns > 1'000'000) rest(100'000);
    if (quiet_ns < quiet_ns_max(*region_, ranks()) || !scheduler_->has_gone_round()) return;
    stop("deadlock", who_waits(*region_, ranks()));
  }

  Offset taken(std::size_t bytes) {
    const auto place = heap_->take(bytes);
    if (place == 0)
      stop("memory", memory_exceeded(number_, slot().doing.call.data(), region_bytes_));
    return place;
  }
  Message& placed(std::size_t size_bytes, std::uint32_t head_bytes = 0) {
    const auto place = taken(sizeof(Message) + head_bytes + size_bytes);
    auto& message = *new (&region_->at<std::byte>(place)) Message;
    message.head_bytes = head_bytes;
    message.size_bytes = size_bytes;
    return message;
  }
  /// An access, or its answer.
  Message& placed(const Access& access, std::size_t size_bytes) {
    auto& message = placed(size_bytes, sizeof(Access));
    message.is_access = true;
    new (message.body()) Access(access);
    return message;
  }
  void release(Message& message) { heap_->give_back(region_->offset_of(&message), message.room()); }

  /// Sends a message on its way; whether its sender has to wait until it has left.
  bool schedule(Message& message, bool is_reported) {
    const auto to = static_cast<int>(message.target);
    if (to == number_) {
      arrive_here(message, now());
      return false;
    }
    member().now += wires_->between(number_, to).send + delay_.overhead;
    const bool is_awaited = is_reported && message.size_bytes > eager_bytes;
    if (is_awaited) {
      message.flow.departure = taken(sizeof(Departure));
      region_->at<Departure>(message.flow.departure).at = never;
    }
    leave_at(message, now());
    return is_awaited;
  }
  /// Sends a message on its way to another rank, which may begin at a time.
  void leave_at(Message& message, Picoseconds time) {
    auto& own = member();
    ++own.messages;
    own.bytes += message.size_bytes;
    const auto& wire = wires_->between(number_, static_cast<int>(message.target));
    const auto transit = wire.transit(message.size_bytes);
    message.busy = wire.busy(message.size_bytes);
    message.cost = wire.receive;
    message.flow.ready = time;
    message.flow.work = std::min(wire.streams(message.size_bytes), transit);
    message.flow.latency = transit - message.flow.work +
                           wires_->noise.added(transit, Noisy::message, number_, own.messages);
    delay_.add_to(message);
    flows_->add(message);
  }
  void arrive_here(Message& message, Picoseconds time) {
    message.arrival = time;
    slot().accesses += message.is_access ? 1 : 0;
    Inbox(*region_, number_).put(message);
  }

  Region* region_ = nullptr;
  std::size_t region_bytes_ = 0;
  int number_ = 0;
  pid_t process_ = 0;
  std::optional<Wires> wires_;
  std::optional<Heap> heap_;
  std::optional<Flows> flows_;
  std::optional<Scheduler> scheduler_;
  Computing computing_;
  CallingThreads calling_threads_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::vector<std::unique_ptr<Completions>> queues_;
  std::deque<Departing> departing_;
  Accesses accesses_;
  Delay delay_;
  bool has_joined_ = false;
  bool has_left_ = false;
  Picoseconds end_ = never;
  Picoseconds early_ = 0;
  PresentCall call_;
  int looks_at_clock_ = 0;
  unsigned looks_in_vain_ = 0;
  int free_polls_ = 0;
  int looks_in_call_ = 0;
  int calls_in_turn_ = 0;
  int accesses_in_call_ = 0;
  int polls_since_event_ = 0;
  int polls_per_event_ = polls_per_event({});
  std::size_t ahead_messages_ = 0;
  std::size_t ahead_bytes_ = 0;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t computings_ = 0;
};

}  // namespace nhalf::fabric
