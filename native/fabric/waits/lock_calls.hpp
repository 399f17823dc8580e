// Waits for other threads that end by themselves: for conditions, locks, semaphores, the end of a
// thread, and messages of the kernel's queues, each until a deadline.
#pragma once

#include <mqueue.h>
#include <semaphore.h>
#include <threads.h>

#include <cstdarg>

#include "fabric/waits/timed_waits.hpp"
#include "preloaded/chain.hpp"

// The C library has these since 2.30 and 2.31.
extern "C" {
int pthread_cond_clockwait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
int pthread_mutex_clocklock(pthread_mutex_t*, clockid_t, const timespec*) noexcept;
int pthread_rwlock_clockrdlock(pthread_rwlock_t*, clockid_t, const timespec*) noexcept;
int pthread_rwlock_clockwrlock(pthread_rwlock_t*, clockid_t, const timespec*) noexcept;
int pthread_clockjoin_np(pthread_t, void**, clockid_t, const timespec*);
int sem_clockwait(sem_t*, clockid_t, const timespec*);
}

namespace nhalf::fabric {
using network::Picoseconds;

/// What a call says when its time is up.
inline bool is_timeout(int answer) {
  return answer == ETIMEDOUT;
}
inline bool is_errno_timeout(int answer) {
  return answer == -1 && errno == ETIMEDOUT;
}
inline bool is_thrd_timeout(int answer) {
  return answer == thrd_timedout;
}

/// Makes a call with a deadline; it is made with real ones again and again if it is virtual.
template <class Call, class IsOver>
auto until(clockid_t clock, const timespec* deadline, Call call, IsOver is_over) {
  if (deadline == nullptr || !is_valid(*deadline)) return call(deadline);
  if (!is_virtual_deadline(clock, *deadline))
    return OtherThreads::here().until_limit([&] { return call(deadline); });
  decltype(call(deadline)) answer{};
  wait_until(from_clock(*deadline), Others::inside, [&](std::uint64_t time_ns) {
    const auto real = real_deadline(clock, time_ns);
    answer = call(&real);
    return !is_over(answer);
  });
  return answer;
}

/// Python's interpreter waits for its lock again and again, for 5 ms each, while other threads
/// compute; the time of that is no program's.
inline bool is_interpreter(const void* caller) {
  Dl_info file{};
  if (dladdr(caller, &file) == 0) return false;
  const auto name = preloaded::file_name(file.dli_fname);
  return name.starts_with("python") || name.starts_with("libpython");
}

/// The clock of a condition's deadlines (the second bit, nptl/pthread_cond_common.c).
inline clockid_t clock_of(const pthread_cond_t* condition) {
  return (condition->__data.__wrefs & 2u) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

/// Waits for a condition. Other ranks may need the mutex while time passes.
template <class Call>
int until_condition(clockid_t clock, pthread_mutex_t* mutex, const timespec* deadline,
                    const void* caller, Call call) {
  if (deadline == nullptr || !is_valid(*deadline)) return call(deadline);
  if (!is_virtual_deadline(clock, *deadline))
    return OtherThreads::here().until_limit([&] { return call(deadline); });
  int answer = 0;
  const auto attempt = [&](std::uint64_t time_ns) {
    const auto real = real_deadline(clock, time_ns);
    answer = call(&real);
    return !is_timeout(answer);
  };
  const auto end = from_clock(*deadline);
  if (is_interpreter(caller)) {
    wait_really(std::max(end, Rank::here().now() + 1), Others::inside, attempt);
    return answer;
  }
  wait_until(end, Others::inside, attempt, [&](Picoseconds time) {
    pthread_mutex_unlock(mutex);
    Rank::here().sleep_until(time);
    pthread_mutex_lock(mutex);
  });
  return answer;
}
}  // namespace nhalf::fabric

NHALF_EXPORTED int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                          const timespec* deadline) {
  auto* const then = NHALF_NEXT(pthread_cond_timedwait);
  return nhalf::fabric::until_condition(
      nhalf::fabric::clock_of(condition), mutex, deadline, __builtin_return_address(0),
      [&](const timespec* end) { return then(condition, mutex, end); });
}

NHALF_EXPORTED int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                          clockid_t clock, const timespec* deadline) {
  auto* const then = NHALF_NEXT(pthread_cond_clockwait);
  return nhalf::fabric::until_condition(
      clock, mutex, deadline, __builtin_return_address(0),
      [&](const timespec* end) { return then(condition, mutex, clock, end); });
}

NHALF_EXPORTED int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* deadline) {
  using namespace nhalf::fabric;
  // They are the same objects to the C library, and so are their answers but for the number.
  auto* const own = reinterpret_cast<pthread_cond_t*>(condition);
  auto* const lock = reinterpret_cast<pthread_mutex_t*>(mutex);
  const int error = pthread_cond_timedwait(own, lock, deadline);
  if (error == 0) return thrd_success;
  return error == ETIMEDOUT ? thrd_timedout : error == EBUSY ? thrd_busy : thrd_error;
}

/// A call with a deadline by a clock, `given` before it.
#define NHALF_UNTIL(clock, is_over, name, ...)                                 \
  auto* const then = NHALF_NEXT(name);                                         \
  return nhalf::fabric::until(                                                 \
      clock, deadline, [&](const timespec* end) { return then(__VA_ARGS__); }, \
      [](auto answer) { return nhalf::fabric::is_over(static_cast<int>(answer)); })

NHALF_EXPORTED int pthread_mutex_timedlock(pthread_mutex_t* mutex,
                                           const timespec* deadline) noexcept {
  NHALF_UNTIL(CLOCK_REALTIME, is_timeout, pthread_mutex_timedlock, mutex, end);
}
NHALF_EXPORTED int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                           const timespec* deadline) noexcept {
  NHALF_UNTIL(clock, is_timeout, pthread_mutex_clocklock, mutex, clock, end);
}
NHALF_EXPORTED int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock,
                                              const timespec* deadline) noexcept {
  NHALF_UNTIL(CLOCK_REALTIME, is_timeout, pthread_rwlock_timedrdlock, lock, end);
}
NHALF_EXPORTED int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock,
                                              const timespec* deadline) noexcept {
  NHALF_UNTIL(CLOCK_REALTIME, is_timeout, pthread_rwlock_timedwrlock, lock, end);
}
NHALF_EXPORTED int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                              const timespec* deadline) noexcept {
  NHALF_UNTIL(clock, is_timeout, pthread_rwlock_clockrdlock, lock, clock, end);
}
NHALF_EXPORTED int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                              const timespec* deadline) noexcept {
  NHALF_UNTIL(clock, is_timeout, pthread_rwlock_clockwrlock, lock, clock, end);
}
NHALF_EXPORTED int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* deadline) {
  NHALF_UNTIL(CLOCK_REALTIME, is_timeout, pthread_timedjoin_np, thread, result, end);
}
NHALF_EXPORTED int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock,
                                        const timespec* deadline) {
  NHALF_UNTIL(clock, is_timeout, pthread_clockjoin_np, thread, result, clock, end);
}
NHALF_EXPORTED int mtx_timedlock(mtx_t* mutex, const timespec* deadline) {
  NHALF_UNTIL(CLOCK_REALTIME, is_thrd_timeout, mtx_timedlock, mutex, end);
}
NHALF_EXPORTED int sem_timedwait(sem_t* semaphore, const timespec* deadline) {
  NHALF_UNTIL(CLOCK_REALTIME, is_errno_timeout, sem_timedwait, semaphore, end);
}
NHALF_EXPORTED int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* deadline) {
  NHALF_UNTIL(clock, is_errno_timeout, sem_clockwait, semaphore, clock, end);
}
NHALF_EXPORTED int mq_timedsend(mqd_t queue, const char* text, std::size_t length,
                                unsigned priority, const timespec* deadline) {
  NHALF_UNTIL(CLOCK_REALTIME, is_errno_timeout, mq_timedsend, queue, text, length, priority, end);
}
NHALF_EXPORTED ssize_t mq_timedreceive(mqd_t queue, char* text, std::size_t room,
                                       unsigned* priority, const timespec* deadline) {
  NHALF_UNTIL(CLOCK_REALTIME, is_errno_timeout, mq_timedreceive, queue, text, room, priority, end);
}

namespace nhalf::fabric {
// The kernel's waits for a word of memory, by which the C++ library waits for futures, and for
// atomic objects and semaphores of C++20. All other system calls pass.

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
