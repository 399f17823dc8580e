// The kernels of STREAM in shared arrays, each rank where its elements lie.
#pragma once

#include "patterns/bases/arrays/array_loop.hpp"

namespace nhalf {

template <ArraysOf T, MemoryKernel kernel>
class ArrayPattern : public ArrayLoop<T> {
 public:
  ArrayPattern(T& transport, const Case& point) : ArrayLoop<T>(transport, point, kernel) {}
};

inline constexpr auto array_copy = array_pattern(
    "array-copy", "STREAM copy in shared arrays, each rank where its elements lie: c = a", 2);
template <ArraysOf T>
using ArrayCopy = ArrayPattern<T, MemoryKernel::copy>;
NHALF_PATTERN(array_copy, ArrayCopy);

inline constexpr auto array_scale = array_pattern(
    "array-scale", "STREAM scale in shared arrays, each rank where its elements lie: b = 3 c", 2);
template <ArraysOf T>
using ArrayScale = ArrayPattern<T, MemoryKernel::scale>;
NHALF_PATTERN(array_scale, ArrayScale);

inline constexpr auto array_add = array_pattern(
    "array-add", "STREAM add in shared arrays, each rank where its elements lie: c = a + b", 3);
template <ArraysOf T>
using ArrayAdd = ArrayPattern<T, MemoryKernel::add>;
NHALF_PATTERN(array_add, ArrayAdd);

inline constexpr auto array_triad = array_pattern(
    "array-triad", "STREAM triad in shared arrays, each rank where its elements lie: a = b + 3 c",
    3);
template <ArraysOf T>
using ArrayTriad = ArrayPattern<T, MemoryKernel::triad>;
NHALF_PATTERN(array_triad, ArrayTriad);

}  // namespace nhalf
