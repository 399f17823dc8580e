// Times of all ranks, some of which may have none.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "contract/transport.hpp"
#include "timing/statistics.hpp"

namespace nhalf {

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
