// The loops of STREAM with stores that pass the caches by, where the processor has such stores.
#pragma once

#include <cstddef>
#include <cstdint>

#include "patterns/bases/arrays/memory_kernels.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace nhalf {

#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr bool has_streaming_stores = true;
#else
inline constexpr bool has_streaming_stores = false;
#endif

/// Two numbers at once, which is the least that such a store takes.
typedef double TwoNumbers __attribute__((vector_size(16), aligned(8), may_alias));

/// Stores two numbers past the caches; `place` is a multiple of 16.
inline void store_past_caches(double* place, TwoNumbers value) {
#if defined(__x86_64__)
  _mm_stream_pd(place, static_cast<__m128d>(value));
#elif defined(__aarch64__)
  asm volatile("stnp %d1, %d2, %0"
               : "=Q"(*reinterpret_cast<TwoNumbers*>(place))
               : "w"(value[0]), "w"(value[1]));
#else
  *reinterpret_cast<TwoNumbers*>(place) = value;
#endif
}

/// `of(i)` gives two numbers from element i on. The first and the last are stored as usual where
/// pairs do not fit; there are two elements or more.
template <class Of>
void stream_loop(double* result, std::size_t count, Of of) {
  std::size_t i = reinterpret_cast<std::uintptr_t>(result) % 16 == 0 ? 0 : 1;
  if (i == 1) result[0] = of(0)[0];
  for (; i + 2 <= count; i += 2) store_past_caches(result + i, of(i));
  if (i < count) result[i] = of(i - 1)[1];
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// One kernel over all elements.
inline void run_streaming_kernel(MemoryKernel kernel, const MemoryArrays& arrays) {
  if (arrays.count < 2) return run_kernel(kernel, arrays);
  const auto& [a, b, c, count] = arrays;
  const auto two = [](const double* from) { return *reinterpret_cast<const TwoNumbers*>(from); };
  switch (kernel) {
    case MemoryKernel::copy:
      return stream_loop(c, count, [&, from = a](std::size_t i) { return two(from + i); });
    case MemoryKernel::scale:
      return stream_loop(b, count,
                         [&, from = c](std::size_t i) { return memory_scalar * two(from + i); });
    case MemoryKernel::add:
      return stream_loop(c, count,
                         [&, x = a, y = b](std::size_t i) { return two(x + i) + two(y + i); });
    case MemoryKernel::triad:
      return stream_loop(a, count, [&, x = b, y = c](std::size_t i) {
        return two(x + i) + memory_scalar * two(y + i);
      });
  }
}

}  // namespace nhalf
