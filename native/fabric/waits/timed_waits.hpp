// Waits that end by themselves, in virtual time. Whoever may end one earlier acts in real time, so
// as long as somebody can, the wait takes the time that it would take without the network at most;
// then what is left of it passes at once.
#pragma once

#include <sys/wait.h>
#include <cerrno>

#include "fabric/rank.hpp"

#define NHALF_EXPORTED extern "C" __attribute__((visibility("default")))

/// The next definition of a function; null if there is none. It is found without a guard, which may
/// wait by one of these calls.
#define NHALF_NEXT(name)                                 \
  [] {                                                   \
    static constinit std::atomic<void*> cached{nullptr}; \
    void* next = cached.load(std::memory_order_relaxed); \
    if (next == nullptr) {                               \
      next = dlsym(RTLD_NEXT, #name);                    \
      cached.store(next, std::memory_order_relaxed);     \
    }                                                    \
    return reinterpret_cast<decltype(&name)>(next);      \
  }()

namespace nhalf::fabric {
// Times of the C library as virtual ones: intervals, and deadlines by clocks that may be virtual;
// and what a call of the C library would reach without this network.

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

/// Whether the time of what this thread does is that of the rank. The library waits for what is
/// outside the network.
inline bool has_ranks_time() {
  const auto& rank = Rank::here();
  return rank.is_virtual() && !rank.is_in_call();
}

/// Who may end a wait: other threads and ranks, or other programs as well.
enum class Others { inside, outside };

/// Whether the process has children, which may do anything in real time.
inline bool has_children() {
  siginfo_t ended{};
  return waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// Waits in real time until a deadline, or for so long as somebody may end the wait; whether
/// somebody has.
template <class Attempt>
bool wait_really(Picoseconds deadline, Others enders, Attempt attempt) {
  static constexpr std::uint64_t look_ns_max = 100'000'000;
  auto& threads = OtherThreads::here();
  const auto& rank = Rank::here();
  const bool is_own = has_ranks_time();
  const bool may_end_early = is_own && deadline <= last_time;
  const auto begin_ns = real_ns();
  const auto limit_ns = (deadline - rank.now()) / nanosecond;
  // Another thread may move the clock to this one's deadline meanwhile.
  auto look_ns = is_own ? look_ns_max : look_ns_max / 100;
  auto before = threads.times();
  while (rank.now() < deadline) {
    const auto passed_ns = real_ns() - begin_ns;
    if (passed_ns >= limit_ns) return false;
    const auto part_ns = std::min(limit_ns - passed_ns, look_ns);
    if (threads.until_limit([&] { return attempt(part_ns); })) return true;
    const bool may_come = enders == Others::outside && has_children();
    if (may_end_early && !may_come && threads.are_quiet_since(before)) return false;
    before = threads.times();
    look_ns = std::min(2 * look_ns, look_ns_max);
  }
  return false;
}

/// Waits until a deadline; whether something else has ended the wait. `attempt` waits for some real
/// nanoseconds and says that, `pass` lets virtual time pass.
template <class Attempt, class Pass>
bool wait_in_turns(Picoseconds deadline, Others enders, Attempt attempt, Pass pass) {
  static constexpr Picoseconds first_step = 1'000'000;
  if (attempt(0)) return true;
  auto& rank = Rank::here();
  if (rank.now() >= deadline) return false;
  const bool is_own = has_ranks_time();
  const bool is_alone = enders == Others::inside && !OtherThreads::here().are_there();
  if (!(is_own && is_alone) && wait_really(deadline, enders, attempt)) return true;
  if (!is_own) return false;
  // Other ranks run when time passes, and what they do is seen soon after.
  for (auto step = first_step; rank.now() < deadline; step *= 2) {
    pass(deadline - rank.now() > step ? rank.now() + step : deadline);
    if (attempt(0)) return true;
  }
  return false;
}

/// Waits like this, and leaves the error of the last attempt to the thread.
template <class Attempt, class Pass>
bool wait_until(Picoseconds deadline, Others enders, Attempt attempt, Pass pass) {
  int error = 0;
  const auto keeping = [&](std::uint64_t time_ns) {
    const bool has_ended = attempt(time_ns);
    error = errno;
    return has_ended;
  };
  const bool has_ended = wait_in_turns(deadline, enders, keeping, pass);
  errno = error;
  return has_ended;
}

template <class Attempt>
bool wait_until(Picoseconds deadline, Others enders, Attempt attempt) {
  return wait_until(deadline, enders, attempt,
                    [](Picoseconds time) { Rank::here().sleep_until(time); });
}

/// Waits for an interval from now on, as long as the thread has the rank's time.
template <class Attempt>
bool wait_for(Picoseconds interval, Others enders, Attempt attempt) {
  const auto now = Rank::here().now();
  return wait_until(never - now > interval ? now + interval : never, enders, attempt);
}
}  // namespace nhalf::fabric
