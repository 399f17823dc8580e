// What the arrays of STREAM hold first, and what after each of its kernels.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "patterns/bases/arrays/memory_kernels.hpp"

namespace nhalf {

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
