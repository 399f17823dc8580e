// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/memory_loop.hpp"

namespace nhalf {

inline constexpr auto memory_add = memory_pattern(
    "memory-add", "STREAM add in ordinary arrays, of which each rank has a part: c = a + b", 3);

template <Computing T>
class MemoryAdd : public MemoryLoop<T> {
 public:
  MemoryAdd(T& transport, const Case& point) : MemoryLoop<T>(transport, point, MemoryKernel::add) {}
};

NHALF_PATTERN(memory_add, MemoryAdd);

}  // namespace nhalf
