// SPDX-License-Identifier: Apache-2.0
// This process as a rank of the virtual machine: its time, its turn, and what it sends and gets.
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fabric/accesses.hpp"
#include "fabric/completions.hpp"
#include "fabric/computing.hpp"
#include "fabric/deadlock.hpp"
#include "fabric/endpoint.hpp"
#include "fabric/heap.hpp"
#include "fabric/inbox.hpp"
#include "fabric/interface.hpp"
#include "fabric/real_time.hpp"
#include "fabric/stop.hpp"
#include "fabric/turns.hpp"
#include "fabric/wires.hpp"
#include "host/life_line.hpp"
#include "preloaded/lasting.hpp"

namespace nhalf::fabric {

class Rank {
 public:
  static Rank& here() { return preloaded::lasting<Rank>(); }

  /// Opens the region that NHALF_FABRIC names; false for a process that is no rank.
  bool open() {
    if (region_ != nullptr) return true;
    const auto number = number_of_launcher();
    if (!number || !map()) return false;
    wires_ = Wires::read(region_->description.data());
    if (!wires_ || *number >= wires_->ranks()) {
      region_ = nullptr;
      return false;
    }
    number_ = *number;
    last_arrival_.resize(static_cast<std::size_t>(wires_->ranks()));
    heap_.emplace(*region_, region_bytes_);
    turns_.emplace(*region_, number_, wires_->ranks());
    return true;
  }

  /// Takes part in virtual time; all ranks do before the first one goes on.
  void join() {
    if (has_joined_) return;
    has_joined_ = true;
    process_ = getpid();
    is_ranks_thread_ = true;
    pthread_atfork(nullptr, nullptr, [] { is_ranks_thread_ = false; });
    hold_life_line();
    turns_->begin();
    computing_.begin(wires_->computing_permille);
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
    turns_->end();
  }

  [[nodiscard]] bool has_endpoint() const { return !endpoints_.empty(); }
  [[nodiscard]] bool is_running() const {
    return has_joined_ && !has_left_ && process_ == getpid();
  }
  /// Whether this thread's time is virtual.
  [[nodiscard]] bool is_virtual() const { return is_ranks_thread_ && has_joined_ && !has_left_; }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int ranks() const { return wires_->ranks(); }
  [[nodiscard]] Picoseconds now() const { return has_joined_ ? own_member().now : 0; }
  [[nodiscard]] std::uint64_t sent_bytes() const { return own_member().bytes; }
  [[nodiscard]] bool is_in_call() const { return depth_ > 0; }

  void enter(const MpiCall& call) {
    if (depth_++ > 0) return;
    waits_ = call.waits;
    free_polls_ = 0;
    accesses_in_call_ = looks_in_call_ = 0;
    if (!is_running()) return;
    advance_computing();
    turns_->note_event();
    auto& doing = slot().doing;
    std::snprintf(doing.call.data(), doing.call.size(), "%s", call.name);
    wait_for(call.peer, call.tag, call.is_world);
  }
  void wait_for(int peer, int tag, bool is_world) {
    auto& doing = slot().doing;
    doing.peer = peer;
    doing.tag = tag;
    doing.is_world = is_world ? 1 : 0;
  }
  void exit() {
    if (--depth_ > 0) return;
    looks_at_clock_ = 0;
    if (!is_running()) return;
    slot().doing.call[0] = '\0';
    computing_.resume();
  }

  /// Reads the clock. The program pays for it, so that a loop on the clock ends; the library only
  /// where it does nothing else, so that it takes what the machine's messages take.
  Picoseconds clock() {
    if (depth_ == 0) {
      looks_in_vain_ = 0;
      advance_computing();
      computing_.resume();
      member().now += wires_->clock_read;
    } else if (++looks_at_clock_ > free_looks) {
      member().now += wires_->clock_read;
    }
    return now();
  }
  /// Sleeps as the program asks.
  void sleep(Picoseconds time) {
    advance_computing();
    computing_.resume();
    member().now += time;
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
    settle();
    looks_in_vain_ = 0;
    const auto size_bytes = bytes_in(parts);
    auto& message = placed(size_bytes);
    gather(parts, message.body());
    message.envelope = envelope;
    message.source = {static_cast<std::uint32_t>(number_), from.number};
    message.endpoint = to.endpoint;
    const auto gone = schedule(message, to.rank, size_bytes);
    deliver(message, to.rank);
    if (!context || from.of_sends == nullptr) return;
    Completion sent(gone, *context);
    sent.size_bytes = size_bytes;
    sent.envelope = envelope;
    from.of_sends->add(sent);
  }

  /// Reaches into the memory of another rank: `parts` go there with the access.
  void access(Endpoint& from, Address to, const Access& access, std::span<const iovec> parts,
              Asked asked) {
    join();
    settle();
    if (++accesses_in_call_ % accesses_between_looks == 0) find_endless_loop();
    looks_in_vain_ = 0;
    const auto bytes = bytes_in(parts);
    auto& message = placed(sizeof(Access) + bytes);
    Access& head = *new (message.body()) Access(access);
    head.number = accesses_.ask(std::move(asked));
    gather(parts, Access::data_in(message));
    message.is_access = true;
    message.source = {static_cast<std::uint32_t>(number_), from.number};
    message.endpoint = to.endpoint;
    schedule(message, to.rank, bytes);
    deliver(message, to.rank);
  }
  Accesses& accesses() { return accesses_; }

  void receive(Endpoint& at, Receive receive, bool is_tagged) {
    if (is_running()) settle();
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
      join();
    }
    settle();
    if (queue.due() > now()) pause();
    return queue.due() <= now();
  }
  /// Takes a completion and pays for it.
  Completion take(Completions& queue) {
    const auto completion = queue.take();
    looks_in_call_ = 0;
    member().now += completion.cost;
    return completion;
  }

  /// Ends the run, here and everywhere.
  [[noreturn]] void stop(std::string_view kind, std::string_view reason) {
    if (!open()) std::abort();
    fabric::stop(*region_, kind, reason);
  }

 private:
  /// Longer messages occupy their sender until they have left it.
  static constexpr std::size_t eager_bytes = 16384;
  static constexpr int free_looks = 1000;
  static constexpr int free_polls_max = 8;
  /// A lock that is never given back is tried again and again.
  static constexpr int accesses_between_looks = 1000;
  /// Libraries look at several places at once; who looks more often waits.
  static constexpr int looks_at_once = 64;
  static constexpr int looks_in_vain_max = 1'000'000;
  static constexpr std::uint64_t quiet_ns_max = 2'000'000'000;
  /// Libraries start and end by means that are not this network's.
  static constexpr std::uint64_t quiet_ns_outside = 30'000'000'000;

  static std::optional<int> number_of_launcher() {
    for (const auto* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"})
      if (const char* text = std::getenv(name)) return std::atoi(text);
    return std::nullopt;
  }
  bool map() {
    const char* path = std::getenv("NHALF_FABRIC");
    if (path == nullptr) return false;
    const int file = ::open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    struct stat status{};
    void* memory = MAP_FAILED;
    if (fstat(file, &status) == 0 && static_cast<std::size_t>(status.st_size) > sizeof(Region)) {
      region_bytes_ = static_cast<std::size_t>(status.st_size);
      memory =
          mmap(nullptr, region_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    }
    close(file);
    if (memory == MAP_FAILED) return false;
    region_ = static_cast<Region*>(memory);
    return true;
  }

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
    if (depth_ <= 1) member().now += computing_.since();
  }

  /// Waits for the turn of what happens now, and takes what has arrived by now.
  void settle() {
    if (!is_ranks_thread_)
      stop("threads", "a second thread of a rank sends or receives, which is not supported");
    looks_at_clock_ = 0;
    pass_until(now());
    drain(now());
  }
  /// Lets time pass. Accesses to this rank's memory are served at their own times, for which the
  /// rank does not have to wait; one that waits sees then what has changed.
  void pass_until(Picoseconds time) {
    for (;;) {
      const auto due = slot().accesses > 0 ? Inbox(*region_, number_).due() : never;
      turns_->pass_until(std::min(time, due));
      const auto reached = region_->next[static_cast<std::size_t>(number_)];
      const bool is_served = slot().accesses > 0 && Inbox(*region_, number_).due() <= reached;
      if (is_served) drain(reached);
      if (reached != never && (!is_served || slot().is_idle != 0))
        member().now = std::max(now(), reached);
      if (!is_served || slot().is_idle != 0) return;
    }
  }
  /// Takes what has arrived by a time.
  void drain(Picoseconds time) {
    Inbox inbox(*region_, number_);
    while (inbox.due() <= time) {
      auto& message = inbox.take();
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
    const auto& access = Access::in(message);
    if (access.kind == Access::Kind::answer)
      take_answer(message);
    else
      answer(message);
    release(message);
  }
  void answer(Message& asked) {
    const auto& access = Access::in(asked);
    const auto bytes = Accesses::answer_bytes(access);
    auto& message = placed(sizeof(Access) + bytes);
    Access& head = *new (message.body()) Access(access);
    head.kind = Access::Kind::answer;
    head.size_bytes = bytes;
    head.has_failed = !accesses_.serve(access, Access::data_in(asked), Access::data_in(message));
    message.is_access = true;
    message.source = {static_cast<std::uint32_t>(number_), asked.endpoint};
    message.endpoint = asked.source.endpoint;
    message.arrival = asked.arrival;
    if (asked.source.rank != message.source.rank) {
      member().bytes += bytes;
      ++member().messages;
      leave_at(asked.arrival, message, asked.source.rank, bytes);
    }
    deliver(message, asked.source.rank);
  }
  void take_answer(Message& message) {
    const auto& access = Access::in(message);
    const auto asked = accesses_.answered(access.number);
    scatter(asked.parts, 0, Access::data_in(message), static_cast<std::size_t>(access.size_bytes));
    if (asked.counter != nullptr) ++*asked.counter;
    auto* const queue = endpoints_[message.endpoint]->of_sends;
    if (queue == nullptr || !(asked.is_reported || access.has_failed)) return;
    Completion done(message.arrival, asked.context);
    done.cost = message.cost;
    done.size_bytes = asked.size_bytes;
    done.is_access = true;
    if (access.has_failed) done.failure = Failure::no_memory;
    queue->add(done);
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
    const bool only_looks = depth_ > 0 && !waits_ && looks_in_call_ < looks_at_once;
    if (only_looks || is_elsewhere) {
      const bool is_free = looks_in_call_ < looks_at_once && (is_elsewhere || looks_in_call_ > 0);
      ++looks_in_call_;
      if (!is_free) member().now += wires_->empty_look;
      if (++looks_in_vain_ == looks_in_vain_max) find_endless_loop();
      return;
    }
    auto next = Inbox(*region_, number_).due();
    for (const auto& queue : queues_) next = std::min(next, queue->due());
    slot().is_idle = 1;
    pass_until(next);
    slot().is_idle = 0;
    if (region_->next[static_cast<std::size_t>(number_)] == never) find_deadlock();
    drain(now());
  }
  /// A loop that neither reads the clock nor sends ends by a message only, which nobody is there to
  /// send if all others wait.
  void find_endless_loop() {
    looks_in_vain_ = 0;
    const auto* next = region_->next.data();
    const auto events =
        std::count_if(next, next + ranks(), [](auto time) { return time != never; });
    if (events == 1 && Inbox(*region_, number_).due() == never)
      stop("deadlock", who_waits(*region_, ranks()));
  }
  void find_deadlock() {
    const auto quiet_ns = turns_->quiet_ns();
    // Who waits for something outside the network needs the processor more.
    if (quiet_ns > 1'000'000) rest(100'000);
    const bool is_outside = is_outside_program(*region_, ranks());
    if (quiet_ns < (is_outside ? quiet_ns_outside : quiet_ns_max)) return;
    stop("deadlock", who_waits(*region_, ranks()));
  }

  Message& placed(std::size_t size_bytes) {
    const auto place = heap_->take(sizeof(Message) + size_bytes);
    if (place == 0) stop("memory", "messages on their way fill the memory of the virtual network");
    auto& message = *new (&region_->at<std::byte>(place)) Message;
    message.size_bytes = size_bytes;
    return message;
  }
  void release(Message& message) { heap_->give_back(region_->offset_of(&message), message.room()); }

  /// Sets when a message arrives; returns when its sender may change the data.
  Picoseconds schedule(Message& message, std::uint32_t to, std::size_t size_bytes) {
    if (to == static_cast<std::uint32_t>(number_)) return message.arrival = now();
    auto& own = member();
    own.now += wires_->between(number_, static_cast<int>(to)).send;
    ++own.messages;
    own.bytes += size_bytes;
    const auto gone = leave_at(own.now, message, to, size_bytes);
    return size_bytes > eager_bytes ? gone : own.now;
  }
  /// Sets when a message arrives that may leave at a time; returns when it has left.
  Picoseconds leave_at(Picoseconds time, Message& message, std::uint32_t to,
                       std::size_t size_bytes) {
    const auto& wire = wires_->between(number_, static_cast<int>(to));
    const auto start = std::max(time, slot().outgoing_free);
    message.busy = wire.busy(size_bytes);
    message.cost = wire.receive;
    slot().outgoing_free = start + message.busy;
    // Messages of a pair do not overtake each other, whatever the curve says of their sizes.
    auto& last = last_arrival_[to];
    last = message.arrival = std::max(last, start + wire.transit(size_bytes));
    return slot().outgoing_free;
  }
  /// Puts a message on its way; who waits for it, or has memory that it reaches, is woken then.
  void deliver(Message& message, std::uint32_t to) {
    Inbox inbox(*region_, static_cast<int>(to));
    inbox.put(message);
    auto& receiver = region_->slots[to];
    receiver.accesses += message.is_access ? 1 : 0;
    ++region_->messages;
    if (to == static_cast<std::uint32_t>(number_)) return;
    const bool is_woken = receiver.is_idle != 0 || receiver.accesses > 0;
    auto& next = region_->next[to];
    if (is_woken && region_->members[to].presence != Presence::left)
      next = std::min(next, inbox.due());
  }

  Region* region_ = nullptr;
  std::size_t region_bytes_ = 0;
  int number_ = 0;
  pid_t process_ = 0;
  std::optional<Wires> wires_;
  std::optional<Heap> heap_;
  std::optional<Turns> turns_;
  Computing computing_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::vector<std::unique_ptr<Completions>> queues_;
  std::vector<Picoseconds> last_arrival_;
  Accesses accesses_;
  bool has_joined_ = false;
  bool has_left_ = false;
  Picoseconds end_ = never;
  int depth_ = 0;
  bool waits_ = true;
  int looks_at_clock_ = 0;
  int looks_in_vain_ = 0;
  int free_polls_ = 0;
  int looks_in_call_ = 0;
  int accesses_in_call_ = 0;
  static inline constinit thread_local bool is_ranks_thread_ = false;
};

}  // namespace nhalf::fabric
