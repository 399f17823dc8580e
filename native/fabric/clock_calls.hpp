// SPDX-License-Identifier: Apache-2.0
// The calls by which a program reads clocks and sleeps, in virtual time for a rank's own thread;
// other threads and other processes keep the real ones, and so does sleep within the library, which
// waits for what is outside the network.
#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "fabric/rank.hpp"

namespace nhalf::fabric {

/// Virtual clocks begin here: 0 would be before any file of the program was made.
inline constexpr std::uint64_t clock_begin_s = 1'000'000'000;

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

inline timespec virtual_time() {
  const auto nanoseconds = Rank::here().clock() / 1000;
  return {static_cast<time_t>(clock_begin_s + nanoseconds / 1'000'000'000),
          static_cast<long>(nanoseconds % 1'000'000'000)};
}

/// Sleeps in virtual time if this is the program of a rank; false if the caller has to.
inline bool has_slept(std::uint64_t nanoseconds) {
  auto& rank = Rank::here();
  if (!rank.is_virtual() || rank.is_in_call()) return false;
  rank.sleep(nanoseconds * 1000);
  return true;
}

inline std::uint64_t nanoseconds_of(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace nhalf::fabric

#define NHALF_EXPORTED extern "C" __attribute__((visibility("default")))

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

NHALF_EXPORTED int nanosleep(const timespec* time, timespec* left) {
  if (nhalf::fabric::has_slept(nhalf::fabric::nanoseconds_of(*time))) return 0;
  return static_cast<int>(syscall(SYS_nanosleep, time, left));
}

NHALF_EXPORTED int clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                                   timespec* left) {
  using namespace nhalf::fabric;
  auto nanoseconds = nanoseconds_of(*time);
  if ((flags & TIMER_ABSTIME) != 0 && Rank::here().is_virtual()) {
    const auto now = nanoseconds_of(virtual_time());
    nanoseconds = nanoseconds > now ? nanoseconds - now : 0;
  }
  if (has_slept(nanoseconds)) return 0;
  return syscall(SYS_clock_nanosleep, clock, flags, time, left) == 0 ? 0 : errno;
}

NHALF_EXPORTED int usleep(useconds_t microseconds) {
  const timespec time{static_cast<time_t>(microseconds / 1'000'000),
                      static_cast<long>(microseconds % 1'000'000) * 1000};
  return nanosleep(&time, nullptr);
}

NHALF_EXPORTED unsigned sleep(unsigned seconds) {
  timespec left{static_cast<time_t>(seconds), 0};
  return nanosleep(&left, &left) == 0 ? 0 : static_cast<unsigned>(left.tv_sec);
}

/// Libraries yield whenever they find nothing; here other ranks run when it is their turn.
NHALF_EXPORTED int sched_yield() noexcept {
  const auto& rank = nhalf::fabric::Rank::here();
  if (rank.is_virtual() && rank.is_in_call()) return 0;
  return static_cast<int>(syscall(SYS_sched_yield));
}
