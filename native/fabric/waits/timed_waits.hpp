// Waits that end by themselves, in virtual time. Whoever may end one earlier acts in real time, so
// as long as somebody can, the wait takes the time that it would take without the network at most;
// then what is left of it passes at once.
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "fabric/rank.hpp"
#include "fabric/real_time.hpp"
#include "fabric/waits/deadline.hpp"
#include "fabric/waits/other_threads.hpp"
#include "network/picoseconds.hpp"

namespace nhalf::fabric {

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
