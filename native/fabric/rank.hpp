// This process as a rank of the virtual machine: its life, its turn and its clock.
#pragma once

#include "fabric/polling_policy.hpp"
#include "fabric/present_call.hpp"
#include "fabric/scheduler.hpp"
#include "fabric/sender.hpp"
#include "fabric/waits/other_threads.hpp"
#include "host/life_line.hpp"

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
    wires_ = Wires::read(region_->description.data());
    if (!wires_ || *number >= wires_->ranks()) {
      region_ = nullptr;
      return false;
    }
    number_ = *number;
    const auto bytes = std::min<std::size_t>(memory.size(), memory_limit_bytes() / memory_share);
    heap_.emplace(region_->network, bytes - offsetof(Region, network));
    flows_.emplace(*region_, *heap_, wires_->routes, wires_->ranks());
    scheduler_.emplace(*region_, *flows_, number_, wires_->ranks());
    sender_.emplace(*region_, *heap_, *flows_, *wires_, delay_, number_);
    serving_.emplace(accesses_, *sender_, endpoints_);
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
  [[nodiscard]] Picoseconds now() const { return has_joined_ ? member().now : 0; }
  [[nodiscard]] std::uint64_t sent_bytes() const { return member().bytes; }
  [[nodiscard]] std::uint64_t sent_messages() const { return member().messages; }
  [[nodiscard]] std::uint64_t received_bytes() const { return received_bytes_; }
  /// Whether what goes on here is within a call of MPI.
  [[nodiscard]] bool is_in_call() const { return call_.has_this(calling_threads_); }
  Delay& delay() { return delay_; }

  bool enter(const MpiCall& call) {
    if (!calling_threads_.enter())
      stop("threads", "two threads of a rank are in calls of MPI at once, which is not supported");
    if (!call_.begin(call)) return false;
    polling_.begin_call(call.name);
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
    polling_.forget_clock_reads();
    if (is_running()) {
      if (polling_.counts_round()) poll_between_calls();
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
      if (polling_.counts_round() && calling_threads_.is_alone()) settle();
    } else if (polling_.counts_clock_read()) {
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
    if (time > last_time)
      stop("time", "rank " + std::to_string(number_) +
                       " sleeps or waits until after the end of virtual time, which is " +
                       std::to_string(last_day) + " days");
    member().now = std::max(now(), time);
    if (calling_threads_.is_alone()) settle();
  }

  Endpoints& endpoints() { return endpoints_; }
  Accesses& accesses() { return accesses_; }

  /// Sends; `context` is that of the completion, if one is wanted.
  void send(Endpoint& from, Address to, const Envelope& envelope, std::span<const iovec> parts,
            std::optional<void*> context) {
    join();
    const auto size_bytes = bytes_in(parts);
    run_ahead(size_bytes);
    note_event();
    auto& message = sender_->message(from.number, to, size_bytes);
    gather(parts, message.body());
    message.envelope = envelope;
    sender_->send(message, context ? from.of_sends : nullptr, context.value_or(nullptr));
  }

  /// Reaches into the memory of another rank: `parts` go there with the access.
  void access(Endpoint& from, Address to, const Access& access, std::span<const iovec> parts,
              Asked pending) {
    join();
    run_ahead(bytes_in(parts));
    if (to.rank == static_cast<std::uint32_t>(number_)) {
      // A rank that tries its own lock until another one gives it back needs time to pass.
      member().now += wires_->empty_poll;
      settle();
    }
    if (polling_.counts_access()) find_endless_loop();
    serving_->ask(from, to, access, parts, std::move(pending));
  }

  void receive(Endpoint& at, Receive receive, bool is_tagged) {
    if (is_running()) check_thread();
    at.post(std::move(receive), is_tagged, now(),
            [this](Message& used) { sender_->release(used); });
  }

  /// Probes for a message that a selection takes; null if there is none.
  Message* peek(Endpoint& at, const Selection& selection) {
    join();
    settle();
    polling_.note_probe(false);
    auto* message = at.tagged().message_for(selection);
    if (message == nullptr) {
      // A probe in vain is an empty poll: time passes until something happens here.
      pause();
      message = at.tagged().message_for(selection);
    }
    polling_.note_probe(message != nullptr);
    return message;
  }
  void discard(Endpoint& at, Message& message) {
    at.tagged().remove(&message);
    sender_->release(message);
  }
  bool receive_claimed(Endpoint& at, Receive receive, Message& message) {
    if (!at.receive_claimed(std::move(receive), message, now())) return false;
    sender_->release(message);
    return true;
  }

  /// Goes on until something is complete, or has to be polled for elsewhere; whether it is.
  bool poll(Completions& queue) {
    if (region_ == nullptr || has_left_) return false;
    if (!has_joined_) {
      // Libraries exchange addresses outside the network before they wait for messages.
      if (!endpoints_.has_receives()) return false;
      check_thread();
      join();
    }
    check_thread();
    // Who waits comes to its turn when something is there, which is not before now.
    if (call_.is_nonblocking()) settle();
    if (queue.due() > now()) pause();
    return queue.due() <= now();
  }
  /// Takes a completion and pays for it.
  Completion take(Completions& queue) {
    const auto completion = queue.take();
    // That there is no message is no event.
    if (completion.failure != Failure::no_message) polling_.note_completion();
    member().now += completion.cost;
    return completion;
  }

  /// Ends the run, here and everywhere.
  [[noreturn]] void stop(std::string_view kind, std::string_view reason) {
    if (!open()) std::abort();
    fabric::stop(*region_, kind, reason);
  }

 private:
  /// Messages have half of the memory at most; ranks and other programs need the rest.
  static constexpr std::uint64_t memory_share = 2;

  [[nodiscard]] Member& member() const {
    return region_->members[static_cast<std::size_t>(number_)];
  }
  Slot& slot() { return region_->slots[static_cast<std::size_t>(number_)]; }
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
    polling_.forget_clock_reads();
  }
  /// Waits for the turn of what happens now, and takes what has arrived by now.
  void settle() {
    check_thread();
    pass_until(now());
    drain(now());
  }
  /// Lets the rank send before its turn, as far as memory goes.
  void run_ahead(std::size_t size_bytes) {
    check_thread();
    if (sender_->is_far_ahead(size_bytes)) settle();
  }
  /// Lets time pass. Accesses to this rank's memory are served at their own times, for which the
  /// rank does not have to wait; one that waits sees then what has changed.
  void pass_until(Picoseconds time) {
    polling_.note_turn();
    sender_->note_turn();
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
    sender_->report_until(time);
    Inbox inbox(*region_, number_);
    while (inbox.due() <= time) {
      note_event();
      auto& message = inbox.take();
      if (message.source.rank != static_cast<std::uint32_t>(number_))
        received_bytes_ += message.size_bytes;
      if (message.is_access) {
        --slot().accesses;
        serving_->serve(message);
      } else if (endpoints_.arrive(message, time)) {
        sender_->release(message);
      }
    }
  }
  /// Lets time pass after a poll in vain: until something happens to this rank if its call waits,
  /// else a moment.
  void pause() {
    const auto decision = polling_.decide(call_.is_nonblocking(), endpoints_.due() <= now());
    if (decision == VainPoll::takes_time) poll_in_vain();
    if (decision == VainPoll::waits_for_event) wait_for_event();
  }
  void poll_in_vain() {
    member().now += wires_->empty_poll;
    polling_.note_vain_poll();
    if (polling_.needs_others()) let_all_poll(*region_, ranks(), now());
    if (polling_.may_be_endless()) find_endless_loop();
  }
  void wait_for_event() {
    const auto arrival = Inbox(*region_, number_).due();
    slot().is_idle = 1;
    pass_until(std::max(std::min({arrival, sender_->departure(), endpoints_.due()}), now()));
    slot().is_idle = 0;
    if (region_->next[static_cast<std::size_t>(number_)] == never)
      find_deadlock();
    else
      polling_.note_wake_up();
    drain(now());
  }
  void note_event() {
    polling_.note_event();
    slot().has_polled_long = 0;
  }
  /// A loop of calls that find nothing to do, as flushes of a window, ends by another rank.
  void poll_between_calls() {
    if (!call_.waits()) return;
    poll_in_vain();
    settle();
    polling_.note_turn_in_loop();
  }
  /// A loop that neither reads the clock nor sends ends by a message only.
  void find_endless_loop() {
    polling_.forget_vain_polls();
    const bool is_due = endpoints_.due() != never || flows_->due() != never;
    if (is_due || sender_->has_departing()) return;
    slot().has_polled_long = 1;
    if (can_nothing_happen(*region_, ranks())) stop("deadlock", who_waits(*region_, ranks()));
  }
  void find_deadlock() {
    const auto quiet_ns = scheduler_->quiet_ns();
    // Who waits for something outside the network needs the processor more.
    if (quiet_ns > 1'000'000) rest(100'000);
    if (quiet_ns < quiet_ns_max(*region_, ranks()) || !scheduler_->has_gone_round()) return;
    stop("deadlock", who_waits(*region_, ranks()));
  }

  Region* region_ = nullptr;
  int number_ = 0;
  pid_t process_ = 0;
  std::optional<Wires> wires_;
  std::optional<Heap> heap_;
  std::optional<Flows> flows_;
  std::optional<Scheduler> scheduler_;
  std::optional<Sender> sender_;
  std::optional<Serving> serving_;
  Computing computing_;
  CallingThreads calling_threads_;
  Endpoints endpoints_;
  Accesses accesses_;
  Delay delay_;
  bool has_joined_ = false;
  bool has_left_ = false;
  Picoseconds end_ = never;
  Picoseconds early_ = 0;
  PresentCall call_;
  PollingPolicy polling_;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t computings_ = 0;
};
}  // namespace nhalf::fabric
