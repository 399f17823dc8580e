// The kernel's waits for a word of memory, by which the C++ library waits for futures, and for
// atomic objects and semaphores of C++20. All other system calls pass.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>

#include "fabric/waits/deadline.hpp"
#include "fabric/waits/next_call.hpp"
#include "fabric/waits/other_threads.hpp"
#include "fabric/waits/timed_waits.hpp"

namespace nhalf::fabric {

/// The arguments of a system call.
struct SystemCall {
  long number;
  long arguments[6];

  [[nodiscard]] int command() const {
    return static_cast<int>(arguments[1]) & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
  }
  [[nodiscard]] clockid_t clock() const {
    return (arguments[1] & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  }
  /// Where its limit is: an interval, or a deadline.
  [[nodiscard]] const timespec* limit() const { return reinterpret_cast<timespec*>(arguments[3]); }

  long run() const {
    return NHALF_NEXT(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3],
                               arguments[4], arguments[5]);
  }
};

/// Waits for a word of memory.
inline long wait_for_word(SystemCall call) {
  const bool is_deadline = call.command() == FUTEX_WAIT_BITSET;
  const bool is_virtual =
      is_deadline ? is_virtual_deadline(call.clock(), *call.limit()) : has_ranks_time();
  if (!is_valid(*call.limit()) || !is_virtual)
    return OtherThreads::here().until_limit([&] { return call.run(); });
  const auto limit = *call.limit();
  long answer = 0;
  const auto attempt = [&](std::uint64_t time_ns) {
    const auto real = is_deadline ? real_deadline(call.clock(), time_ns) : interval_of(time_ns);
    call.arguments[3] = reinterpret_cast<long>(&real);
    answer = call.run();
    return answer != -1 || errno != ETIMEDOUT;
  };
  if (is_deadline)
    wait_until(from_clock(limit), Others::inside, attempt);
  else
    wait_for(picoseconds_of(limit), Others::inside, attempt);
  return answer;
}

}  // namespace nhalf::fabric

NHALF_EXPORTED long syscall(long number, ...) noexcept {
  using nhalf::fabric::SystemCall;
  SystemCall call{number, {}};
  va_list more;
  va_start(more, number);
  for (long& argument : call.arguments) argument = va_arg(more, long);
  va_end(more);
  const bool is_wait = number == SYS_futex && call.limit() != nullptr &&
                       (call.command() == FUTEX_WAIT || call.command() == FUTEX_WAIT_BITSET);
  return is_wait ? nhalf::fabric::wait_for_word(call) : call.run();
}
