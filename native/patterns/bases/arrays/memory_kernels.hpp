// The four loops of STREAM over ordinary arrays, for the vector units of the machine they run on.
#pragma once

#include <cstddef>

// A probe is built for any processor of its kind; the loader takes the version for this one. The
// thread sanitizer is not ready when the loader asks.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__)
#define NHALF_EVERY_VECTOR_UNIT \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define NHALF_EVERY_VECTOR_UNIT
#endif
// A copying loop must not become memcpy: that has stores past the cache, and STREAM counts a loop.
#ifdef __clang__
#define NHALF_STAYS_A_LOOP __attribute__((no_builtin("memcpy")))
#else
#define NHALF_STAYS_A_LOOP __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

namespace nhalf {

/// J. D. McCalpin: Memory bandwidth and machine balance in current high performance computers,
/// IEEE TCCA Newsletter, December 1995. The kernels by their place in his order.
enum class MemoryKernel { copy, scale, add, triad };

/// The factor of `scale` and `triad`.
inline constexpr double memory_scalar = 3;

NHALF_EVERY_VECTOR_UNIT NHALF_STAYS_A_LOOP inline void memory_copy_loop(double* __restrict c,
                                                                        const double* __restrict a,
                                                                        std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) c[i] = a[i];
}
NHALF_EVERY_VECTOR_UNIT inline void memory_scale_loop(double* __restrict b,
                                                      const double* __restrict c,
                                                      std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) b[i] = memory_scalar * c[i];
}
NHALF_EVERY_VECTOR_UNIT inline void memory_add_loop(double* __restrict c,
                                                    const double* __restrict a,
                                                    const double* __restrict b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
}
NHALF_EVERY_VECTOR_UNIT inline void memory_triad_loop(double* __restrict a,
                                                      const double* __restrict b,
                                                      const double* __restrict c,
                                                      std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + memory_scalar * c[i];
}

/// The three arrays of STREAM at one rank.
struct MemoryArrays {
  double* a = nullptr;
  double* b = nullptr;
  double* c = nullptr;
  std::size_t count = 0;
};

/// One kernel over all elements.
inline void run_kernel(MemoryKernel kernel, const MemoryArrays& arrays) {
  const auto& [a, b, c, count] = arrays;
  switch (kernel) {
    case MemoryKernel::copy:
      return memory_copy_loop(c, a, count);
    case MemoryKernel::scale:
      return memory_scale_loop(b, c, count);
    case MemoryKernel::add:
      return memory_add_loop(c, a, b, count);
    case MemoryKernel::triad:
      return memory_triad_loop(a, b, c, count);
  }
}

}  // namespace nhalf
