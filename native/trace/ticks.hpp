// The fastest trustworthy clock: the processor's counter if it is invariant and the kernel uses it
// as its clock source, else the kernel's monotonic clock. In virtual time it is the network's,
// whose ticks are picoseconds.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>
#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "host/kernel_files.hpp"
#include "host/virtual_clock.hpp"

namespace nhalf::trace {
using Ticks = std::uint64_t;

/// The virtual clock of this process; null in real time.
inline preloaded::VirtualTime virtual_time = nullptr;

inline std::uint64_t nanoseconds_of(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

inline std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return nanoseconds_of(now);
}

/// Returns the time of day, in virtual time too.
inline std::uint64_t real_ns() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return nanoseconds_of(now);
}

#if defined(__x86_64__)

/// Whether the counter is invariant by CPUID and the clock source of the kernel.
inline bool counter_is_trusted() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(0x80000007U, &a, &b, &c, &d) == 0 || (d & (1U << 8U)) == 0) return false;
  return text_of("/sys/devices/system/clocksource/clocksource0/current_clocksource")
      .starts_with("tsc");
}

inline bool counter_is_used = false;

inline void choose_clock() {
  virtual_time = preloaded::virtual_time();
  counter_is_used = virtual_time == nullptr && counter_is_trusted();
}

/// Returns the current time, without a fence: a few instructions earlier or later do not matter.
[[gnu::always_inline]] inline Ticks now() {
  if (counter_is_used) [[likely]]
    return __rdtsc();
  return virtual_time != nullptr ? virtual_time() : clock_ns(CLOCK_MONOTONIC);
}

#elif defined(__aarch64__)

inline void choose_clock() {
  virtual_time = preloaded::virtual_time();
}

[[gnu::always_inline]] inline Ticks now() {
  if (virtual_time != nullptr) [[unlikely]]
    return virtual_time();
  Ticks value = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
}

#else

inline void choose_clock() {
  virtual_time = preloaded::virtual_time();
}

inline Ticks now() {
  return virtual_time != nullptr ? virtual_time() : clock_ns(CLOCK_MONOTONIC);
}

#endif

/// One moment in ticks and in wall-clock time.
struct Moment {
  Ticks at = 0;
  /// Nanoseconds since 1970.
  std::uint64_t wall_ns = 0;
};

/// A moment with the raw monotonic clock, by which the length of a tick is measured.
struct Reading {
  Moment moment;
  std::uint64_t steady_ns = 0;

  static Reading now_on_all() {
    const Ticks before = now();
    // The library's looks at its clock may count: see fabric/rank.hpp.
    if (virtual_time != nullptr) return {{before, before / 1000}, before / 1000};
    const auto steady = clock_ns(CLOCK_MONOTONIC_RAW);
    const Ticks after = now();
    return {{before + (after - before) / 2, clock_ns(CLOCK_REALTIME)}, steady};
  }
};

/// The time of a thread that its calls have taken: a timed call that represents others may claim no
/// more than nobody else has, so that all calls together never take longer than the thread has run.
class ClaimedTime {
 public:
  /// `short_call` is the longest mean time of calls that others represent.
  ClaimedTime(Ticks begin, Ticks short_call) : until_(begin), kept_(kept_calls * short_call) {}

  /// Returns the time that a call of `time` until `end` takes with those that it represents, of
  /// which there are `weight` with itself. All have been since the last one that represented any,
  /// between calls that were timed on their own.
  [[gnu::always_inline]] Ticks claim(Ticks time, Ticks end, std::uint64_t weight) {
    if (weight <= 1) [[likely]] {
      until_ += time;
      return time;
    }
    return shared(time, end, weight);
  }

 private:
  /// Some represent fewer calls than there were, and others more: what is left is kept for them.
  static constexpr Ticks kept_calls = 512;

  [[gnu::noinline]] Ticks shared(Ticks time, Ticks end, std::uint64_t weight) {
    const Ticks free = end > until_ ? end - until_ : 0;
    const Ticks all = std::min(time * weight, free);
    until_ = std::max(until_ + all, end - std::min(end, kept_));
    return all;
  }

  /// Calls have taken as much as if they had taken all of the time until then.
  Ticks until_;
  Ticks kept_;
};
}  // namespace nhalf::trace
