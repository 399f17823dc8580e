// The dissipation that keeps the scheme stable: a fourth difference in every direction.
#pragma once

#include <vector>

#include "apps/npb/flow/equations.hpp"

namespace nhalf::npb::flow {

/// Coefficients of the fourth difference at every point of a direction: one-sided near the ends.
class FourthDifference {
 public:
  FourthDifference(Index n, Index low, Index size)
      : stride_(size + 2 * lane_count), c_(static_cast<std::size_t>(5 * stride_), 0.0) {
    for (Index i = 0; i < size; ++i) {
      const Index g = low + i;
      if (g < 1 || g > n - 2) continue;
      const bool at_end = g == 1 || g == n - 2;
      const double value[5] = {g > 2 ? 1.0 : 0.0, g > 1 ? -4.0 : 0.0, at_end ? 5.0 : 6.0,
                               g < n - 2 ? -4.0 : 0.0, g < n - 3 ? 1.0 : 0.0};
      for (Index o = 0; o < 5; ++o)
        c_[static_cast<std::size_t>(o * stride_ + i)] = dissipation * value[o];
    }
  }
  /// The factor of the point `offset` (-2 to 2) away from point i.
  [[nodiscard]] const double* at(Index i, Index offset) const {
    return c_.data() + (offset + 2) * stride_ + i;
  }

 private:
  Index stride_;
  std::vector<double> c_;
};

}  // namespace nhalf::npb::flow
