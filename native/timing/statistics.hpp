// Order statistics of the samples of one launch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace nhalf {

/// The k-th smallest value, k from 0. Reorders `values`, which must not be empty.
inline double order_statistic(std::span<double> values, std::size_t k) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Median of a non-empty set; the mean of the two middle values where the count is even.
inline double median(std::span<double> values) {
  const auto n = values.size();
  const double upper = order_statistic(values, n / 2);
  if (n % 2 == 1) return upper;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(n / 2);
  return (upper + *std::max_element(values.begin(), middle)) / 2;
}

/// Half the width of the 95 % interval of the median, relative to the median.
///
/// Distribution-free: the interval between two order statistics whose ranks are n/2 -+ 0.98 sqrt(n)
/// (J.-Y. Le Boudec, Performance Evaluation of Computer and Communication Systems, 2010, Theorem
/// 2.1). Infinite below 6 samples, where no such interval exists. Reorders `values`.
inline double relative_half_width(std::span<double> values) {
  const auto n = values.size();
  if (n < 6) return std::numeric_limits<double>::infinity();
  const double count = static_cast<double>(n);
  const double reach = 0.98 * std::sqrt(count);
  const auto low_rank = static_cast<std::size_t>(std::max(0.0, std::floor(count / 2 - reach) - 1));
  const auto high_rank = std::min(n - 1, static_cast<std::size_t>(std::ceil(count / 2 + reach)));
  const double low = order_statistic(values, low_rank);
  const double high = order_statistic(values, high_rank);
  const double centre = median(values);
  if (high == low) return 0;
  return centre > 0 ? (high - low) / (2 * centre) : std::numeric_limits<double>::infinity();
}

}  // namespace nhalf
