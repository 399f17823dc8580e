// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/array_loop.hpp"

namespace nhalf {

inline constexpr auto array_scale = array_pattern(
    "array-scale", "STREAM scale in shared arrays, each rank where its elements lie: b = 3 c", 2);

template <ArraysOf T>
class ArrayScale : public ArrayLoop<T> {
 public:
  ArrayScale(T& transport, const Case& point)
      : ArrayLoop<T>(transport, point, MemoryKernel::scale) {}
};

NHALF_PATTERN(array_scale, ArrayScale);

}  // namespace nhalf
