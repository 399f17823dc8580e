// Order statistics of the samples of one launch, and times of all ranks, some of which may have
// none.
#pragma once

#include "contract/transport.hpp"

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

/// Returns every rank's time at rank 0, NaN for ranks without one; empty at other ranks.
template <Controlled T>
std::vector<double> collect_times(T& transport, std::optional<double> own_s) {
  const double sent_s = own_s.value_or(std::numeric_limits<double>::quiet_NaN());
  return collect(transport, std::span(&sent_s, 1));
}

/// Returns the longest time, 0 if no rank has one; below 0 if all times are.
inline double longest_of(const std::vector<double>& everyone_s) {
  double longest_s = -std::numeric_limits<double>::infinity();
  for (const double time_s : everyone_s)
    if (!std::isnan(time_s)) longest_s = std::max(longest_s, time_s);
  return std::isinf(longest_s) ? 0 : longest_s;
}

/// Returns the longest of all ranks' times, the same at every rank; 0 if no rank has one.
template <Controlled T>
double longest_everywhere(T& transport, std::optional<double> own_s) {
  double longest_s = longest_of(collect_times(transport, own_s));
  share(transport, longest_s);
  return longest_s;
}

/// Collects the samples of all ranks at rank 0: the slowest rank of each sample and each rank's
/// median.
class RankTimes {
 public:
  /// Adds one time per rank, NaN for ranks without one, and returns the largest.
  double add(const std::vector<double>& everyone_s) {
    by_rank_.resize(everyone_s.size());
    for (std::size_t rank = 0; rank < everyone_s.size(); ++rank)
      if (!std::isnan(everyone_s[rank])) by_rank_[rank].push_back(everyone_s[rank]);
    return longest_of(everyone_s);
  }

  /// Returns the median of every rank, 0 for ranks that never had a time.
  [[nodiscard]] std::vector<double> medians() {
    std::vector<double> medians_s;
    for (auto& times : by_rank_) medians_s.push_back(times.empty() ? 0 : median(times));
    return medians_s;
  }

 private:
  std::vector<std::vector<double>> by_rank_;
};
}  // namespace nhalf
