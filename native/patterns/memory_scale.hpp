// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/memory_loop.hpp"

namespace nhalf {

inline constexpr auto memory_scale = memory_pattern(
    "memory-scale", "STREAM scale in ordinary arrays, of which each rank has a part: b = 3 c", 2);

template <Computing T>
class MemoryScale : public MemoryLoop<T> {
 public:
  MemoryScale(T& transport, const Case& point)
      : MemoryLoop<T>(transport, point, MemoryKernel::scale) {}
};

NHALF_PATTERN(memory_scale, MemoryScale);

}  // namespace nhalf
