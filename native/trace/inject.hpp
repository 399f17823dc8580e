// nhalf-needs: MPI
// Delays that a network or a processor would cause if it were slower by exactly so much: calls are
// held as long as a program asked for by NHALF_TRACE_INJECT would wait there. A call that completes
// a message is held until its arrival and the delay; so a message that came early enough costs
// nothing. Ranks of one host tell each other when messages were sent, in a file that all map.
#pragma once

#include <cstdio>

#include "host/cores.hpp"
#include "preloaded/lasting.hpp"
#include "trace/inject_request.hpp"
#include "trace/sent_times.hpp"

namespace nhalf::trace {
/// What a thread has done in its present call.
struct Injected {
  struct Message {
    std::int32_t source;
    std::int32_t tag;
    std::uint64_t size_bytes;
  };

  Ticks begin = 0;
  Ticks end = 0;
  /// When its last call ended.
  Ticks left = 0;
  int sent = 0;
  /// Messages of the call whose receivers have been told when they were sent.
  int told = 0;
  Subject operation;
  /// The ranks of the operation; 0 without one.
  std::uint32_t members = 0;
  std::vector<Message> received;
  std::uint64_t random = 0;

  /// Returns an exponentially distributed number with mean 1.
  double draw(int rank) {
    if (random == 0) random = 0x9e3779b97f4a7c15U * (static_cast<std::uint64_t>(rank) + 1);
    random ^= random << 13U;
    random ^= random >> 7U;
    random ^= random << 17U;
    return -std::log(static_cast<double>((random >> 11U) + 1) * 0x1p-53);
  }
};

class Injection {
 public:
  /// Whether something is injected into this process.
  static inline bool is_on = false;

  static Injection& of_process() { return preloaded::lasting<Injection>(); }

  /// Reads what to inject; `rank` of `ranks`, once MPI has begun. A tick is `1 / per_s` seconds.
  void begin(int rank, int ranks, double per_s) {
    const char* text = std::getenv("NHALF_TRACE_INJECT");
    const char* folder = std::getenv("NHALF_TRACE_FOLDER");
    if (text == nullptr || folder == nullptr) return;
    request_ = Request::read(text);
    rank_ = rank;
    per_s_ = per_s;
    if (virtual_time != nullptr) {
      virtual_sleep_ = found<VirtualSleep>("nhalf_virtual_sleep_until_ps");
      virtual_way_ = found<VirtualWay>("nhalf_virtual_way_ps");
      virtual_spacing_ = found<VirtualWay>("nhalf_virtual_spacing_ps");
      virtual_delay_ = found<VirtualDelay>("nhalf_virtual_delay_ps");
      network_is_slower_ = virtual_delay_ != nullptr && request_.concerns_all();
      if (network_is_slower_) delay_messages();
    }
    holds_calls_ = request_.delays_messages() && !network_is_slower_;
    is_on = true;
    if (!holds_calls_) return;
    const auto path = std::string(folder) + "/sent-times";
    times_ = SentTimes::opened(path, rank, ranks);
    if (times_.is_open()) return;
    is_on = false;
    // The first rank says so for all, unless others can.
    if (rank == 0 || SentTimes::is_made(path, ranks))
      std::fprintf(
          stderr,
          "nhalf: nothing can be injected: it needs at most %d ranks, on one host, and space "
          "for a file of %zu bytes\n",
          SentTimes::ranks_max, SentTimes::bytes_of(ranks));
  }

  /// A call begins: messages within it may take longer where the tracer does not see them.
  void enter(Injected& own, std::uint16_t call) {
    enter(own);
    if (is_within(call)) delay_messages();
  }

  /// Computing has ended, and may take longer.
  void enter(Injected& own) {
    const Ticks now = trace::now();
    if (own.left > 0 && now > own.left) {
      const auto computed = static_cast<double>(now - own.left);
      const double noise = request_.noise_share > 0 ? request_.noise_share * own.draw(rank_) : 0.0;
      const double share = request_.computing_share(rank_) + noise;
      if (share > 0) hold_until(now + static_cast<Ticks>(std::llround(computed * share)));
    }
    own.begin = trace::now();
  }

  /// A message is about to be sent: once it is, its receiver may be faster than this rank.
  void tell(Injected& own, const Subject& subject, std::int32_t tag, Ticks begin) {
    if (!holds_calls_ || subject.kind != Kind::sent || !is_between_ranks(subject)) return;
    if (!times_.sent(subject.partner, {tag, subject.size_bytes, begin})) say_without_space();
    ++own.told;
  }

  /// A message, operation or wait has been counted within the call.
  void saw(Injected& own, const Subject& subject, std::int32_t tag, Ticks begin, Ticks end,
           std::uint32_t members) {
    if (!holds_calls_) return;
    own.end = std::max(own.end, end);
    const bool is_message = is_between_ranks(subject);
    if (subject.kind == Kind::sent && is_message) {
      if (own.told == 0) tell(own, subject, tag, begin);
      --own.told;
      own.sent += request_.concerns(rank_, subject.partner, subject.call) ? 1 : 0;
    } else if (subject.kind == Kind::received && is_message) {
      own.received.push_back({subject.partner, tag, subject.size_bytes});
    } else if (subject.kind == Kind::collective) {
      own.operation = subject;
      own.members = members;
    }
  }

  /// A call ends; holds it, and returns for how long.
  Ticks leave(Injected& own, std::uint16_t call) {
    if (is_within(call)) virtual_delay_(0, 0, 0);
    double busy_s = own.sent * request_.overhead_s;
    Ticks until = own.received.empty() ? 0 : received_due(own, call, busy_s);
    if (own.members > 0) until = std::max(until, operation_due(own));
    const Ticks before = trace::now();
    if (until > 0 || busy_s > 0) hold_until(std::max(until, before) + ticks(busy_s));
    own.received.clear();
    own.sent = 0;
    own.told = 0;
    own.end = 0;
    own.members = 0;
    own.left = trace::now();
    return own.left - before;
  }

 private:
  using VirtualSleep = std::uint64_t (*)(std::uint64_t);
  using VirtualWay = std::uint64_t (*)(int, std::uint64_t);
  using VirtualDelay = void (*)(double, double, double);

  template <class Function>
  static Function found(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  }

  void say_without_space() {
    if (!is_said_.exchange(true))
      std::fprintf(stderr,
                   "nhalf: nothing can be injected into messages of rank %d: there is no space for "
                   "when they were sent\n",
                   rank_);
  }

  [[nodiscard]] bool is_between_ranks(const Subject& subject) const {
    return subject.partner >= 0 && subject.partner != rank_;
  }

  [[nodiscard]] Ticks ticks(double time_s) const {
    return static_cast<Ticks>(std::llround(time_s * per_s_));
  }

  /// Returns when the messages of a call would have been received; adds what their receiver is
  /// busy for. A call that waited ended with the arrival of its last message.
  Ticks received_due(const Injected& own, std::uint16_t call, double& busy_s) {
    Ticks last = 0;
    Ticks last_late = 0;
    Ticks until = 0;
    std::uint64_t bytes = 0;
    for (const auto& message : own.received) {
      bytes += message.size_bytes;
      const Ticks arrival = arrival_of(message, own.end);
      const bool is_late = request_.concerns(message.source, rank_, call);
      const Ticks late = is_late ? ticks(request_.latency_s + request_.overhead_s +
                                         request_.byte_s * static_cast<double>(message.size_bytes))
                                 : 0;
      busy_s += is_late ? request_.overhead_s : 0.0;
      // One that nobody is told of was sent long ago.
      if (is_late && arrival > 0) until = std::max(until, arrival + late);
      if (arrival > last || (arrival == last && late > last_late)) last_late = late;
      last = std::max(last, arrival);
    }
    if (has_waited(own, last, bytes) && last_late > 0) until = std::max(until, own.end + last_late);
    return until;
  }

  /// Returns when a message arrived, at the earliest; 0 if it was sent long ago, and the present
  /// for one whose sender has not told it yet, so has only just sent it. Those of one sender come
  /// one after the other.
  Ticks arrival_of(const Injected::Message& message, Ticks end) {
    Ticks sent = 0;
    if (!times_.take(message.source, message.tag, message.size_bytes, sent)) return end;
    if (sent == 0) return 0;
    Ticks arrival = sent + way_of(message, end > sent ? end - sent : 0);
    if (virtual_spacing_ == nullptr) return arrival;
    const std::lock_guard guard(lock_);
    auto& last = last_arrivals_[message.source];
    if (last > 0)
      arrival = std::max(arrival, last + virtual_spacing_(message.source, message.size_bytes));
    last = std::max(last, arrival);
    return arrival;
  }

  /// Whether a call waited for its messages, whose last one arrived at `last` or later: if that is
  /// within the call, which took longer than the shortest one with as many messages and bytes.
  bool has_waited(const Injected& own, Ticks last, std::uint64_t bytes) {
    const Ticks took = own.end - own.begin;
    const auto kind = std::make_pair(own.received.size(), bytes);
    const std::lock_guard guard(lock_);
    const auto shortest = shortest_calls_.try_emplace(kind, took).first;
    shortest->second = std::min(shortest->second, took);
    return last > own.begin && took > shortest->second + shortest->second / 64;
  }

  /// Returns what a message of that size takes from its sender: what the virtual network says, or
  /// the shortest time so far.
  Ticks way_of(const Injected::Message& message, Ticks took) {
    if (virtual_way_ != nullptr) return virtual_way_(message.source, message.size_bytes);
    const std::lock_guard guard(lock_);
    auto& least = shortest_ways_[{message.source, message.size_bytes}];
    least = least == 0 ? took : std::min(least, took);
    return least;
  }

  /// Whether the virtual network delays the messages of an operation while it lasts.
  [[nodiscard]] bool is_within(std::uint16_t call) const {
    return virtual_delay_ != nullptr && !network_is_slower_ && is_operation(call) &&
           request_.concerns_call(call);
  }
  void delay_messages() const {
    virtual_delay_(request_.latency_s * per_s_, request_.overhead_s * per_s_,
                   request_.byte_s * per_s_);
  }

  [[nodiscard]] Ticks operation_due(const Injected& own) const {
    if (is_within(own.operation.call)) return 0;
    const auto path = path_of(own.operation, static_cast<int>(own.members), rank_);
    if (path.messages == 0 || !request_.concerns_call(own.operation.call)) return 0;
    return own.end + ticks(path.messages * (request_.latency_s + 2 * request_.overhead_s) +
                           path.bytes * request_.byte_s);
  }

  void hold_until(Ticks until) const {
    if (virtual_time != nullptr) {
      if (virtual_sleep_ != nullptr) virtual_sleep_(until);
      return;
    }
    // Without the hint, spinning would slow down a rank on the other thread of the core.
    for (Ticks at = trace::now(); at < until; at = trace::now()) {
      pause_briefly();
      const double left_ns = static_cast<double>(until - at) / per_s_ * 1e9;
      if (left_ns < 200e3) continue;
      const timespec time{0, static_cast<long>(std::min(left_ns - 100e3, 9e8))};
      nanosleep(&time, nullptr);
    }
  }

  /// For what is known of messages, of which threads may receive several at a time.
  Lock lock_;
  Request request_;
  SentTimes times_;
  std::atomic<bool> is_said_{false};
  int rank_ = 0;
  double per_s_ = 1e9;
  std::map<std::pair<std::int32_t, std::uint64_t>, Ticks> shortest_ways_;
  /// By number of messages and bytes of a call.
  std::map<std::pair<std::size_t, std::uint64_t>, Ticks> shortest_calls_;
  VirtualSleep virtual_sleep_ = nullptr;
  VirtualWay virtual_way_ = nullptr;
  VirtualWay virtual_spacing_ = nullptr;
  VirtualDelay virtual_delay_ = nullptr;
  /// Whether all messages are delayed, and that by the virtual network itself.
  bool network_is_slower_ = false;
  /// Whether calls are held for their messages, which their senders tell.
  bool holds_calls_ = false;
  /// By rank that sends, without what is injected.
  std::map<std::int32_t, Ticks> last_arrivals_;
};
}  // namespace nhalf::trace
