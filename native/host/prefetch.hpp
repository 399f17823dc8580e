// SPDX-License-Identifier: Apache-2.0
// Lines of a cache that are fetched before they are needed.
#pragma once

namespace nhalf {

/// Takes a line away from other cores, so that the next store to it need not wait for that.
inline void prefetch_to_write(const void* line) {
#if defined(__x86_64__)
  // Compilers know of it only where a newer processor is asked for; older ones pass over it.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace nhalf
