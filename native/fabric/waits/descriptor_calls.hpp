// Waits for descriptors and signals that end by themselves, after an interval. Without descriptors
// they are sleep.
#pragma once

#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>

#include "fabric/waits/timed_waits.hpp"

namespace nhalf::fabric {
/// Returns real nanoseconds in milliseconds, not less.
inline int milliseconds_of(std::uint64_t time_ns) {
  return static_cast<int>(std::min<std::uint64_t>((time_ns + 999'999) / 1'000'000, INT_MAX));
}

inline timespec timespec_of(int milliseconds) {
  return interval_of(static_cast<std::uint64_t>(milliseconds) * 1'000'000);
}

/// Makes a call that ends after an interval if nothing happens: it says `nothing` then.
template <class Plain, class Attempt>
int after(const timespec* interval, bool is_sleep, Plain plain, Attempt attempt) {
  if (interval == nullptr || !is_valid(*interval) ||
      (interval->tv_sec == 0 && interval->tv_nsec == 0))
    return plain();
  if (!has_ranks_time()) return OtherThreads::here().until_limit(plain);
  if (is_sleep) {
    Rank::here().sleep(picoseconds_of(*interval));
    return attempt(0);
  }
  int answer = 0;
  wait_for(picoseconds_of(*interval), Others::outside, [&](std::uint64_t time_ns) {
    answer = attempt(time_ns);
    return answer != 0;
  });
  return answer;
}

/// Makes a call whose limit is an interval, or part of it.
template <class Call>
int after_interval(const timespec* interval, bool is_sleep, Call call) {
  return after(
      interval, is_sleep, [&] { return call(interval); },
      [&](std::uint64_t time_ns) {
        const auto part = interval_of(time_ns);
        return call(&part);
      });
}

/// Makes a call whose limit is in milliseconds; there is none below 0.
template <class Call>
int after_milliseconds(int milliseconds, bool is_sleep, Call call) {
  if (milliseconds <= 0) return call(milliseconds);
  const auto interval = timespec_of(milliseconds);
  return after(
      &interval, is_sleep, [&] { return call(milliseconds); },
      [&](std::uint64_t time_ns) { return call(milliseconds_of(time_ns)); });
}

/// The sets of a select, which it changes.
class Sets {
 public:
  Sets(int number, std::array<fd_set*, 3> sets)
      : words_((static_cast<std::size_t>(std::max(number, 0)) + word_bits - 1) / word_bits),
        sets_(sets) {
    for (const auto* set : sets_) {
      const auto* const first = reinterpret_cast<const long*>(set);
      if (set != nullptr) kept_.insert(kept_.end(), first, first + words_);
    }
  }
  void restore() const {
    auto from = kept_.begin();
    for (auto* set : sets_) {
      if (set == nullptr) continue;
      std::copy_n(from, words_, reinterpret_cast<long*>(set));
      from += static_cast<std::ptrdiff_t>(words_);
    }
  }

 private:
  static constexpr std::size_t word_bits = CHAR_BIT * sizeof(long);

  std::size_t words_;
  std::array<fd_set*, 3> sets_;
  std::vector<long> kept_;
};

/// Waits for signals, which other programs may send: it says so by an error that there was none.
template <class Call>
int until_signal(const timespec* interval, Call call) {
  if (interval == nullptr || !is_valid(*interval) || !has_ranks_time()) return call(interval);
  int answer = -1;
  wait_for(picoseconds_of(*interval), Others::outside, [&](std::uint64_t time_ns) {
    const auto part = interval_of(time_ns);
    answer = call(&part);
    return answer != -1 || errno != EAGAIN;
  });
  return answer;
}
}  // namespace nhalf::fabric

NHALF_EXPORTED int ppoll(pollfd* files, nfds_t number, const timespec* interval,
                         const sigset_t* signals) {
  auto* const then = NHALF_NEXT(ppoll);
  return nhalf::fabric::after_interval(interval, number == 0, [&](const timespec* limit) {
    return then(files, number, limit, signals);
  });
}

NHALF_EXPORTED int poll(pollfd* files, nfds_t number, int milliseconds) {
  auto* const then = NHALF_NEXT(poll);
  return nhalf::fabric::after_milliseconds(milliseconds, number == 0,
                                           [&](int limit) { return then(files, number, limit); });
}

// What programs call that are compiled with checks (_FORTIFY_SOURCE).
NHALF_EXPORTED int __poll_chk(pollfd* files, nfds_t number, int milliseconds, std::size_t room) {
  if (room / sizeof *files < number) std::abort();
  return poll(files, number, milliseconds);
}
NHALF_EXPORTED int __ppoll_chk(pollfd* files, nfds_t number, const timespec* interval,
                               const sigset_t* signals, std::size_t room) {
  if (room / sizeof *files < number) std::abort();
  return ppoll(files, number, interval, signals);
}

NHALF_EXPORTED int pselect(int number, fd_set* in, fd_set* out, fd_set* errors,
                           const timespec* interval, const sigset_t* signals) {
  using namespace nhalf::fabric;
  auto* const then = NHALF_NEXT(pselect);
  const bool is_sleep = in == nullptr && out == nullptr && errors == nullptr;
  const Sets sets(has_ranks_time() && interval != nullptr ? number : 0, {in, out, errors});
  return after_interval(interval, is_sleep, [&](const timespec* limit) {
    if (limit != interval) sets.restore();
    return then(number, in, out, errors, limit, signals);
  });
}

/// It leaves in its interval what is left of it, as the kernel's does.
NHALF_EXPORTED int select(int number, fd_set* in, fd_set* out, fd_set* errors, timeval* interval) {
  using namespace nhalf::fabric;
  const bool is_plain =
      interval == nullptr || interval->tv_sec < 0 || interval->tv_usec < 0 || !has_ranks_time();
  if (is_plain) {
    auto* const then = NHALF_NEXT(select);
    const auto plain = [&] { return then(number, in, out, errors, interval); };
    return interval == nullptr ? plain() : OtherThreads::here().until_limit(plain);
  }
  const timespec time{interval->tv_sec + interval->tv_usec / 1'000'000,
                      interval->tv_usec % 1'000'000 * 1000};
  const auto begin = Rank::here().now();
  const int answer = pselect(number, in, out, errors, &time, nullptr);
  const auto passed_ns = (Rank::here().now() - begin) / nanosecond;
  const auto given_ns = picoseconds_of(time) / nanosecond;
  const auto remaining = interval_of(given_ns > passed_ns ? given_ns - passed_ns : 0);
  *interval = {remaining.tv_sec, remaining.tv_nsec / 1000};
  return answer;
}

NHALF_EXPORTED int epoll_pwait(int file, epoll_event* events, int room, int milliseconds,
                               const sigset_t* signals) {
  auto* const then = NHALF_NEXT(epoll_pwait);
  return nhalf::fabric::after_milliseconds(
      milliseconds, false, [&](int limit) { return then(file, events, room, limit, signals); });
}

NHALF_EXPORTED int epoll_wait(int file, epoll_event* events, int room, int milliseconds) {
  auto* const then = NHALF_NEXT(epoll_wait);
  return nhalf::fabric::after_milliseconds(
      milliseconds, false, [&](int limit) { return then(file, events, room, limit); });
}

// The C library has it since 2.35.
extern "C" int epoll_pwait2(int, epoll_event*, int, const timespec*, const sigset_t*);
NHALF_EXPORTED int epoll_pwait2(int file, epoll_event* events, int room, const timespec* interval,
                                const sigset_t* signals) {
  auto* const then = NHALF_NEXT(epoll_pwait2);
  return nhalf::fabric::after_interval(interval, false, [&](const timespec* limit) {
    return then(file, events, room, limit, signals);
  });
}

NHALF_EXPORTED int sigtimedwait(const sigset_t* signals, siginfo_t* about,
                                const timespec* interval) {
  auto* const then = NHALF_NEXT(sigtimedwait);
  return nhalf::fabric::until_signal(
      interval, [&](const timespec* part) { return then(signals, about, part); });
}
