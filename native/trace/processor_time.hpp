// When a thread was off its processor: because other threads had it, or because it slept. Looking
// costs as much as dozens of calls, so it is done at the end of what took long only: a computation
// between calls, or a call. What is short meanwhile counts as on the processor.
#pragma once

#include <fcntl.h>

#include <cstdio>

#include "trace/layout.hpp"

namespace nhalf::trace {
/// A moment of a thread by the wall clock, its processor time, and its time in the queue of a
/// processor that others had; in nanoseconds.
struct OnProcessor {
  std::uint64_t wall_ns = 0;
  std::uint64_t used_ns = 0;
  std::uint64_t queued_ns = 0;

  static OnProcessor now() {
    OnProcessor moment;
    moment.wall_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    moment.used_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return moment;
  }
};

/// Returns how long this thread has stood in queues of processors, as the kernel counts it (Linux:
/// Documentation/scheduler/sched-stats.rst, the second number of schedstat); 0 if that is unknown.
inline std::uint64_t queued_now_ns() {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "/proc/self/task/%ld/schedstat",
                static_cast<long>(syscall(SYS_gettid)));
  const int file = open(text.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const auto length = read(file, text.data(), text.size() - 1);
  close(file);
  if (length <= 0) return 0;
  text[static_cast<std::size_t>(length)] = '\0';
  char* second = nullptr;
  std::strtoull(text.data(), &second, 10);
  return std::strtoull(second, nullptr, 10);
}

/// What looking costs in ticks, measured once, and where the first thread began.
struct LookCosts {
  /// What is shorter is not looked at: it would cost more than half a percent. None by default.
  Ticks long_piece = ~Ticks{0};
  Ticks queue = 0;
  OnProcessor first;
  Ticks first_at = 0;
  long first_thread = 0;

  static LookCosts measured() {
    constexpr int rounds = 5;
    constexpr Ticks share = 200;
    LookCosts costs;
    if (virtual_time != nullptr) return costs;
    Ticks least = ~Ticks{0};
    Ticks least_of_queue = ~Ticks{0};
    for (int round = 0; round < rounds; ++round) {
      const Ticks begin = now();
      costs.first = OnProcessor::now();
      const Ticks middle = now();
      costs.first.queued_ns = queued_now_ns();
      least = std::min(least, middle - begin);
      least_of_queue = std::min(least_of_queue, now() - middle);
    }
    costs.long_piece = least * share;
    costs.queue = least_of_queue;
    costs.first_at = now();
    costs.first_thread = syscall(SYS_gettid);
    return costs;
  }
};

class ProcessorTime {
 public:
  /// What was lost in a piece of time: off the processor, and of that in its queue.
  struct Lost {
    std::uint64_t off_ns = 0;
    std::uint64_t queued_ns = 0;
  };

  ProcessorTime(Head& head, const LookCosts& costs)
      : head_(head), costs_(costs), begin_(costs.first_at) {
    rebase();
    if (costs.first_thread != syscall(SYS_gettid)) return;
    last_ = costs.first;
    last_at_ = costs.first_at;
  }

  /// Begins anew, as another thread takes over.
  void rebase() {
    if (!looks()) return;
    last_ = OnProcessor::now();
    last_.queued_ns = queued_now_ns();
    last_at_ = now();
  }

  [[nodiscard]] bool looks() const { return costs_.long_piece != ~Ticks{0}; }
  [[nodiscard]] Ticks long_piece() const { return costs_.long_piece; }
  /// Since when the processor time is known.
  [[nodiscard]] Ticks known_since() const { return last_at_; }

  /// Looks at the end of a long piece.
  [[gnu::noinline]] Lost ended(Ticks end, bool is_call) {
    OnProcessor moment = OnProcessor::now();
    if (!is_call) end = now();
    const auto wall_ns = moment.wall_ns - last_.wall_ns;
    const auto used_ns = moment.used_ns - last_.used_ns;
    moment.queued_ns = last_.queued_ns;
    Lost lost;
    if (wall_ns > used_ns && wall_ns - used_ns > std::max(least_ns, wall_ns >> 10U)) {
      lost.off_ns = wall_ns - used_ns;
      if (spent_ <= (end - begin_) / share + allowance * costs_.queue) {
        spent_ += costs_.queue;
        // What passes between the two clocks is in the queue already, and is left for the next
        // look.
        const auto queued_ns = std::max(queued_now_ns(), last_.queued_ns) - last_.queued_ns;
        lost.queued_ns = std::min(lost.off_ns, queued_ns);
        moment.queued_ns += lost.queued_ns;
      }
      head_.off_ns[is_call ? 1 : 0] += lost.off_ns;
      head_.queued_ns[is_call ? 1 : 0] += lost.queued_ns;
    }
    last_ = moment;
    last_at_ = end;
    head_.used_ns = moment.used_ns;
    return lost;
  }

 private:
  /// Less is within the precision of the clocks.
  static constexpr std::uint64_t least_ns = 50'000;
  /// One part of this many of the run may be spent on looking at the queue, and some at once.
  static constexpr Ticks share = 200;
  static constexpr Ticks allowance = 200;

  Head& head_;
  const LookCosts& costs_;
  Ticks begin_;
  Ticks spent_ = 0;
  OnProcessor last_;
  Ticks last_at_ = 0;
};
}  // namespace nhalf::trace
