// The four loops of STREAM over ordinary arrays, for the vector units of the machine they run on,
// also with stores that pass the caches by; and what the arrays hold first and after each loop.
#pragma once

#include <cmath>

#include "host/streaming_stores.hpp"

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

/// The rows of STREAM: its kernels, their formulas, and how many arrays each reads and writes.
#define NHALF_STREAM_KERNELS(ROW) \
  ROW(copy, "c = a", 2);          \
  ROW(scale, "b = 3 c", 2);       \
  ROW(add, "c = a + b", 3);       \
  ROW(triad, "a = b + 3 c", 3)

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

/// `of(i)` gives two numbers from element i on. The first and the last are stored as usual where
/// pairs do not fit; there are two elements or more.
template <class Of>
void stream_loop(double* result, std::size_t count, Of of) {
  std::size_t i = reinterpret_cast<std::uintptr_t>(result) % 16 == 0 ? 0 : 1;
  if (i == 1) result[0] = of(0)[0];
  for (; i + 2 <= count; i += 2) store_past_caches(result + i, of(i));
  if (i < count) result[i] = of(i - 1)[1];
  end_streaming_stores();
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

/// Every element is `weight(i)` times a number that is the same for all of one array. STREAM has
/// weights of 1; these differ by place, so that an element in a wrong place is found.
class MemoryCheck {
 public:
  static double weight(std::size_t index) { return 1 + static_cast<double>(index % 1021); }

  /// First values of a, b and c, as STREAM has them.
  void begin() { expected_ = {1, 2, 0}; }
  /// What one run of a kernel changes; runs of the same kernel again change nothing.
  void ran(MemoryKernel kernel) {
    auto& [a, b, c] = expected_;
    if (kernel == MemoryKernel::copy) c = a;
    if (kernel == MemoryKernel::scale) b = memory_scalar * c;
    if (kernel == MemoryKernel::add) c = a + b;
    if (kernel == MemoryKernel::triad) a = b + memory_scalar * c;
  }

  /// `index_of(i)` is the place in the whole array of a rank's element i.
  template <class IndexOf>
  void fill(const MemoryArrays& arrays, IndexOf index_of) const {
    for (std::size_t i = 0; i < arrays.count; ++i) {
      const double scale = weight(index_of(i));
      arrays.a[i] = expected_[0] * scale;
      arrays.b[i] = expected_[1] * scale;
      arrays.c[i] = expected_[2] * scale;
    }
  }

  /// STREAM's rule: in each array the mean error is less than 1e-13 of the mean of what is
  /// expected.
  template <class IndexOf>
  [[nodiscard]] bool holds(const MemoryArrays& arrays, IndexOf index_of) const {
    std::array<double, 3> errors{};
    double sum = 0;
    for (std::size_t i = 0; i < arrays.count; ++i) {
      const double scale = weight(index_of(i));
      sum += scale;
      errors[0] += std::abs(arrays.a[i] - expected_[0] * scale);
      errors[1] += std::abs(arrays.b[i] - expected_[1] * scale);
      errors[2] += std::abs(arrays.c[i] - expected_[2] * scale);
    }
    constexpr double epsilon = 1e-13;
    for (std::size_t i = 0; i < errors.size(); ++i)
      if (!(errors[i] <= epsilon * std::abs(expected_[i]) * sum)) return false;
    return true;
  }

 private:
  std::array<double, 3> expected_{};
};
}  // namespace nhalf
