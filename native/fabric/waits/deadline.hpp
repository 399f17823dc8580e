// Times of the C library as virtual ones: intervals, and deadlines by clocks that may be virtual.
#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "network/picoseconds.hpp"

namespace nhalf::fabric {

using network::last_time;
using network::never;
using network::Picoseconds;

/// Virtual clocks begin here: 0 would be before any file of the program was made.
inline constexpr std::int64_t clock_begin_s = 1'000'000'000;

inline constexpr std::int64_t second_ns = 1'000'000'000;
inline constexpr Picoseconds nanosecond = 1000;

/// Whether the kernel takes it.
inline bool is_valid(const timespec& time) {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < second_ns;
}

/// Returns a valid time; `never` for what no virtual time reaches.
inline Picoseconds picoseconds_of(const timespec& time) {
  if (time.tv_sec > static_cast<std::int64_t>(last_time / (second_ns * nanosecond))) return never;
  return static_cast<Picoseconds>(time.tv_sec * second_ns + time.tv_nsec) * nanosecond;
}

inline timespec interval_of(std::uint64_t time_ns) {
  return {static_cast<time_t>(time_ns / second_ns), static_cast<long>(time_ns % second_ns)};
}

/// Whether a valid deadline was made of a virtual clock, whichever thread made it: no computer has
/// run for thirty years, and none has a time of day before 2017 or after 2286.
inline bool is_virtual_deadline(clockid_t clock, const timespec& deadline) {
  const bool is_late = deadline.tv_sec > 10 * clock_begin_s || clock != CLOCK_REALTIME;
  return deadline.tv_sec >= clock_begin_s * 9 / 10 &&
         (is_late || deadline.tv_sec < clock_begin_s * 3 / 2);
}

/// Returns a deadline by a virtual clock in virtual time.
inline Picoseconds from_clock(timespec deadline) {
  deadline.tv_sec -= std::min<std::int64_t>(deadline.tv_sec, clock_begin_s);
  return picoseconds_of(deadline);
}

/// Returns a deadline by a real clock, so far ahead.
inline timespec real_deadline(clockid_t clock, std::uint64_t ahead_ns) {
  timespec now{};
  syscall(SYS_clock_gettime, clock, &now);
  const auto ahead = interval_of(ahead_ns + static_cast<std::uint64_t>(now.tv_nsec));
  return {now.tv_sec + ahead.tv_sec, ahead.tv_nsec};
}

}  // namespace nhalf::fabric
