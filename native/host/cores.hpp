// The cores that a thread may run on, and hints to one: that it is going to write a cache line,
// that it polls memory which another core will write.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include "contract/vocabulary.hpp"

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

/// Fetches a line in exclusive state, so that the next store to it does not wait.
inline void prefetch_to_write(const void* line) {
#if defined(__x86_64__)
  // Compilers offer it for newer processors only; older ones execute it as a no-op.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

/// Leaves the core's shared units to other hardware threads for some cycles, without yielding the
/// core. On unknown processors it only keeps the compiler from removing the loop.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__ARM_ARCH_7A__)
  asm volatile("yield" ::: "memory");
#elif defined(__powerpc__)
  asm volatile("or 27, 27, 27" ::: "memory");  // Power ISA, book II: yield
#elif defined(__riscv)
  asm volatile(".4byte 0x0100000f" ::: "memory");  // pause of Zihintpause, elsewhere a fence
#else
  asm volatile("" ::: "memory");
#endif
}
}  // namespace nhalf
