// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/memory_loop.hpp"

namespace nhalf {

inline constexpr auto memory_triad = memory_pattern(
    "memory-triad", "STREAM triad in ordinary arrays, of which each rank has a part: a = b + 3 c",
    3);

template <Computing T>
class MemoryTriad : public MemoryLoop<T> {
 public:
  MemoryTriad(T& transport, const Case& point)
      : MemoryLoop<T>(transport, point, MemoryKernel::triad) {}
};

NHALF_PATTERN(memory_triad, MemoryTriad);

}  // namespace nhalf
