// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/array_loop.hpp"

namespace nhalf {

inline constexpr auto array_triad = array_pattern(
    "array-triad", "STREAM triad in shared arrays, each rank where its elements lie: a = b + 3 c",
    3);

template <ArraysOf T>
class ArrayTriad : public ArrayLoop<T> {
 public:
  ArrayTriad(T& transport, const Case& point)
      : ArrayLoop<T>(transport, point, MemoryKernel::triad) {}
};

NHALF_PATTERN(array_triad, ArrayTriad);

}  // namespace nhalf
