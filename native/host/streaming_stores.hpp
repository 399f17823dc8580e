// Stores that pass the caches by, where the processor has them.
#pragma once

#include "contract/vocabulary.hpp"

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

/// Lets all stores past the caches be seen before later ones. Processors of other kinds order them
/// like any store.
inline void end_streaming_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// Copies bytes by such stores, but for the first and last few, which do not fill one.
inline void copy_past_caches(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  constexpr std::size_t step = sizeof(TwoNumbers);
  std::size_t at =
      std::min((step - reinterpret_cast<std::uintptr_t>(to) % step) % step, size_bytes);
  std::memcpy(to, from, at);
  for (; at + step <= size_bytes; at += step) {
    TwoNumbers two;
    std::memcpy(&two, from + at, step);
    store_past_caches(reinterpret_cast<double*>(to + at), two);
  }
  std::memcpy(to + at, from + at, size_bytes - at);
}
}  // namespace nhalf
