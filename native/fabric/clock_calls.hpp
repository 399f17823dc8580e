// The calls by which a program reads clocks and sleeps, in virtual time for a rank's own thread;
// other threads and other processes keep the real ones, and so does sleep within the library, which
// waits for what is outside the network.
#pragma once

#include <sys/time.h>
#include <threads.h>

#include "fabric/waits/timed_waits.hpp"

namespace nhalf::fabric {
inline bool is_time_of_day(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
      return true;
    default:
      return false;
  }
}

/// Whether the kernel sleeps by it.
inline bool is_of_sleep(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME;
}

inline timespec virtual_time() {
  const auto now = interval_of(Rank::here().clock() / nanosecond);
  return {clock_begin_s + now.tv_sec, now.tv_nsec};
}

/// Sleeps in virtual time if this is the program of a rank; false if the caller has to, or if the
/// kernel has to say what is wrong.
inline bool has_slept(const timespec* time) {
  if (time == nullptr || !is_valid(*time) || !has_ranks_time()) return false;
  Rank::here().sleep(picoseconds_of(*time));
  return true;
}
}  // namespace nhalf::fabric

NHALF_EXPORTED int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using namespace nhalf::fabric;
  if (!is_time_of_day(clock) || !Rank::here().is_virtual())
    return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  *time = virtual_time();
  return 0;
}

NHALF_EXPORTED int gettimeofday(timeval* time, void* zone) noexcept {
  using namespace nhalf::fabric;
  if (!Rank::here().is_virtual()) return static_cast<int>(syscall(SYS_gettimeofday, time, zone));
  const auto now = virtual_time();
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

NHALF_EXPORTED time_t time(time_t* result) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != nullptr) *result = now.tv_sec;
  return now.tv_sec;
}

NHALF_EXPORTED int nanosleep(const timespec* time, timespec* remaining) {
  using namespace nhalf::fabric;
  if (has_slept(time)) return 0;
  return OtherThreads::here().until_limit(
      [&] { return static_cast<int>(syscall(SYS_nanosleep, time, remaining)); });
}

NHALF_EXPORTED int clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                                   timespec* remaining) {
  using namespace nhalf::fabric;
  const auto sleep = [&](const timespec* until) {
    return syscall(SYS_clock_nanosleep, clock, flags, until, remaining) == 0 ? 0 : errno;
  };
  const bool is_here = time != nullptr && is_valid(*time) && is_of_sleep(clock);
  if (is_here && (flags & TIMER_ABSTIME) != 0 && is_virtual_deadline(clock, *time)) {
    int error = 0;
    wait_until(from_clock(*time), Others::inside, [&](std::uint64_t time_ns) {
      const auto real = real_deadline(clock, time_ns);
      error = time_ns == 0 && has_ranks_time() ? 0 : sleep(&real);
      return error != 0;
    });
    return error;
  }
  const bool is_interval = (flags & TIMER_ABSTIME) == 0;
  if (is_here && is_interval && has_slept(time)) return 0;
  return OtherThreads::here().until_limit([&] { return sleep(time); });
}

NHALF_EXPORTED int thrd_sleep(const timespec* time, timespec* remaining) {
  const int error = clock_nanosleep(CLOCK_REALTIME, 0, time, remaining);
  return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

NHALF_EXPORTED int usleep(useconds_t microseconds) {
  const timespec time{static_cast<time_t>(microseconds / 1'000'000),
                      static_cast<long>(microseconds % 1'000'000) * 1000};
  return nanosleep(&time, nullptr);
}

NHALF_EXPORTED unsigned sleep(unsigned seconds) {
  timespec remaining{static_cast<time_t>(seconds), 0};
  return nanosleep(&remaining, &remaining) == 0 ? 0 : static_cast<unsigned>(remaining.tv_sec);
}

/// Libraries yield whenever they find nothing; here other ranks run when it is their turn.
NHALF_EXPORTED int sched_yield() noexcept {
  const auto& rank = nhalf::fabric::Rank::here();
  if (rank.is_virtual() && rank.is_in_call()) return 0;
  return static_cast<int>(syscall(SYS_sched_yield));
}
