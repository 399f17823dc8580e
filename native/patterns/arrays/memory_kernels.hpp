// The kernels of STREAM in ordinary arrays, of which each rank has a part.
#pragma once

#include "patterns/bases/arrays/memory_loop.hpp"

namespace nhalf {

template <Computing T, MemoryKernel kernel>
class MemoryPattern : public MemoryLoop<T> {
 public:
  MemoryPattern(T& transport, const Case& point) : MemoryLoop<T>(transport, point, kernel) {}
};

inline constexpr auto memory_copy = memory_pattern(
    "memory-copy", "STREAM copy in ordinary arrays, of which each rank has a part: c = a", 2);
template <Computing T>
using MemoryCopy = MemoryPattern<T, MemoryKernel::copy>;
NHALF_PATTERN(memory_copy, MemoryCopy);

inline constexpr auto memory_scale = memory_pattern(
    "memory-scale", "STREAM scale in ordinary arrays, of which each rank has a part: b = 3 c", 2);
template <Computing T>
using MemoryScale = MemoryPattern<T, MemoryKernel::scale>;
NHALF_PATTERN(memory_scale, MemoryScale);

inline constexpr auto memory_add = memory_pattern(
    "memory-add", "STREAM add in ordinary arrays, of which each rank has a part: c = a + b", 3);
template <Computing T>
using MemoryAdd = MemoryPattern<T, MemoryKernel::add>;
NHALF_PATTERN(memory_add, MemoryAdd);

inline constexpr auto memory_triad = memory_pattern(
    "memory-triad", "STREAM triad in ordinary arrays, of which each rank has a part: a = b + 3 c",
    3);
template <Computing T>
using MemoryTriad = MemoryPattern<T, MemoryKernel::triad>;
NHALF_PATTERN(memory_triad, MemoryTriad);

}  // namespace nhalf
