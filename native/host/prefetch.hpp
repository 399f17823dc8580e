// Prefetches cache lines.
#pragma once

namespace nhalf {

/// Fetches a line in exclusive state, so that the next store to it does not wait.
inline void prefetch_to_write(const void* line) {
#if defined(__x86_64__)
  // Compilers offer it for newer processors only; older ones execute it as a no-op.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace nhalf
