// Resource limits of the process: one that grows a file beyond its limit is killed by a signal, and
// one without address space gets no memory.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nhalf::trace {

/// Whether a file may have `size_bytes`. The program may change its limit at any time.
inline bool may_have_bytes(std::uint64_t size_bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || size_bytes <= limit.rlim_cur);
}

/// Returns the address space that a file may map: a small share of it if it is limited.
inline std::size_t mapped_most_bytes(std::size_t wanted_bytes, std::size_t least_bytes) {
  constexpr std::size_t share = 256;
  constexpr std::size_t page_bytes = 4096;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted_bytes;
  const auto part_bytes = limit.rlim_cur / share / page_bytes * page_bytes;
  return std::min(wanted_bytes, std::max<std::size_t>(least_bytes, part_bytes));
}

}  // namespace nhalf::trace
