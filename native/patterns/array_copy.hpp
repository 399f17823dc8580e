// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/array_loop.hpp"

namespace nhalf {

inline constexpr auto array_copy = array_pattern(
    "array-copy", "STREAM copy in shared arrays, each rank where its elements lie: c = a", 2);

template <ArraysOf T>
class ArrayCopy : public ArrayLoop<T> {
 public:
  ArrayCopy(T& transport, const Case& point) : ArrayLoop<T>(transport, point, MemoryKernel::copy) {}
};

NHALF_PATTERN(array_copy, ArrayCopy);

}  // namespace nhalf
