// The cores that a thread may run on.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <vector>

namespace nhalf {

/// Returns the cores that a thread may run on, by default the calling thread.
inline std::vector<int> allowed_cpus(pid_t thread = 0) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(thread, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

}  // namespace nhalf
