// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/memory_loop.hpp"

namespace nhalf {

inline constexpr auto memory_copy = memory_pattern(
    "memory-copy", "STREAM copy in ordinary arrays, of which each rank has a part: c = a", 2);

template <Computing T>
class MemoryCopy : public MemoryLoop<T> {
 public:
  MemoryCopy(T& transport, const Case& point)
      : MemoryLoop<T>(transport, point, MemoryKernel::copy) {}
};

NHALF_PATTERN(memory_copy, MemoryCopy);

}  // namespace nhalf
