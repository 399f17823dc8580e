// The processor's time of every thread of this process.
#pragma once

#include <dirent.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>

namespace nhalf::fabric {

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

}  // namespace nhalf::fabric
