// The real time, by system calls: the C library's calls are virtual here (clock_calls.hpp); the
// processor's time of every thread of this process, and what of it a program is given.
#pragma once

#include <dirent.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <cstdlib>
#include <map>

#include "contract/vocabulary.hpp"
#include "network/picoseconds.hpp"

namespace nhalf::fabric {
inline std::uint64_t real_ns() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline void rest(long nanoseconds) {
  const timespec pause{0, nanoseconds};
  syscall(SYS_nanosleep, &pause, nullptr);
}

/// Returns the time by one of the processor's clocks; 0 for a thread that has ended.
inline std::uint64_t processor_ns(clockid_t clock) {
  timespec used{};
  syscall(SYS_clock_gettime, clock, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(used.tv_nsec);
}

/// Returns the clock of a thread, as the kernel composes it: its number inverted, then per thread
/// (4) and by the scheduler (2).
inline clockid_t clock_of(pid_t thread) {
  return static_cast<clockid_t>((~static_cast<std::uint32_t>(thread) << 3) | 6u);
}

/// The processor's time of threads in nanoseconds, by their numbers.
using TimesOfThreads = std::map<pid_t, std::uint64_t>;

inline TimesOfThreads thread_times() {
  TimesOfThreads times_ns;
  DIR* const folder = opendir("/proc/self/task");
  if (folder == nullptr) return times_ns;
  while (const auto* entry = readdir(folder))
    if (const pid_t thread = std::atoi(entry->d_name); thread > 0)
      times_ns[thread] = processor_ns(clock_of(thread));
  closedir(folder);
  return times_ns;
}

class ThreadTimes {
 public:
  /// Begins with all threads, or with the only one.
  void read() { times_ns_ = thread_times(); }
  void begin(pid_t thread, std::uint64_t time_ns) { times_ns_ = {{thread, time_ns}}; }

  /// Returns the longest time of a thread since then, of `all_ns` of the process together; those
  /// that began later have all of theirs, and the rest is of those that have ended.
  [[nodiscard]] std::uint64_t longest_ns(std::uint64_t all_ns) const {
    std::uint64_t longest = 0;
    std::uint64_t together = 0;
    for (const auto& [thread, time_ns] : thread_times()) {
      const auto earlier = times_ns_.find(thread);
      const auto before_ns = earlier == times_ns_.end() ? 0 : earlier->second;
      // The kernel gives numbers of ended threads again.
      const auto own_ns = time_ns > before_ns ? time_ns - before_ns : 0;
      longest = std::max(longest, own_ns);
      together += own_ns;
    }
    return std::max(longest, all_ns > together ? all_ns - together : 0);
  }

 private:
  TimesOfThreads times_ns_;
};

// The time of a program between its calls of MPI: none, or its processor's time by a factor. Of
// several threads it is the longest time of one, as if each had a core of its own; those that have
// ended meanwhile count as one.

using network::Picoseconds;

class Computing {
 public:
  void begin(std::uint64_t permille) {
    permille_ = permille;
    resume();
  }
  /// The program goes on.
  void resume() {
    if (permille_ == 0) return;
    thread_ = own_thread();
    since_ns_ = processor_ns(CLOCK_THREAD_CPUTIME_ID);
    all_since_ns_ = processor_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (all_since_ns_ - since_ns_ > little_ns)
      threads_.read();
    else
      threads_.begin(thread_, since_ns_);
  }
  /// Returns how long it has computed since then.
  [[nodiscard]] Picoseconds since() const {
    if (permille_ == 0) return 0;
    const auto own_ns = processor_ns(CLOCK_THREAD_CPUTIME_ID) - since_ns_;
    const auto all_ns = processor_ns(CLOCK_PROCESS_CPUTIME_ID) - all_since_ns_;
    // The others together have done less.
    if (thread_ == own_thread() && all_ns <= 2 * own_ns) return own_ns * permille_;
    return threads_.longest_ns(all_ns) * permille_;
  }

 private:
  /// What other threads may have computed ever without being looked at.
  static constexpr std::uint64_t little_ns = 100'000;

  static std::int32_t own_thread() { return static_cast<std::int32_t>(syscall(SYS_gettid)); }

  std::uint64_t permille_ = 0;
  std::uint64_t since_ns_ = 0;
  std::uint64_t all_since_ns_ = 0;
  std::int32_t thread_ = 0;
  ThreadTimes threads_;
};
}  // namespace nhalf::fabric
