// Looks at the state of the machine before, during and after the sampling of a point.
#pragma once

#include <algorithm>
#include <limits>

#include "timing/flag.hpp"

namespace nhalf {

/// The fastest and the slowest flag between two cores of all looks during one visit to a point.
///
/// Where both agree, the machine was in one state. Looks are spread evenly over the slice, so that
/// they take a few percent of it at most, and lie between samples.
template <class T>
class Witness {
 public:
  static constexpr int looks = 8;

  explicit Witness(Flag<T>& flag) : flag_(flag) {}

  /// Looks at the machine; collective, as `Flag::measure_s`. A look that is missed does not count.
  void look() {
    const double flag_s = flag_.measure_s();
    if (!(flag_s > 0)) return;
    low_s_ = std::min(low_s_, flag_s);
    high_s_ = std::max(high_s_, flag_s);
  }

  /// Whether the next look is due after so many seconds of a slice; for rank 0, which decides.
  bool due(double spent_s, double slice_s) {
    if (spent_s < next_s_) return false;
    next_s_ = spent_s + slice_s / looks;
    return true;
  }

  /// Whether any look was answered; at rank 0 only.
  [[nodiscard]] bool knows() const { return high_s_ > 0; }
  [[nodiscard]] double low_s() const { return low_s_; }
  [[nodiscard]] double high_s() const { return high_s_; }

 private:
  Flag<T>& flag_;
  double low_s_ = std::numeric_limits<double>::infinity();
  double high_s_ = 0;
  double next_s_ = 0;
};

}  // namespace nhalf
