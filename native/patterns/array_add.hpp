// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/array_loop.hpp"

namespace nhalf {

inline constexpr auto array_add = array_pattern(
    "array-add", "STREAM add in shared arrays, each rank where its elements lie: c = a + b", 3);

template <ArraysOf T>
class ArrayAdd : public ArrayLoop<T> {
 public:
  ArrayAdd(T& transport, const Case& point) : ArrayLoop<T>(transport, point, MemoryKernel::add) {}
};

NHALF_PATTERN(array_add, ArrayAdd);

}  // namespace nhalf
