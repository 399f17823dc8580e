// SPDX-License-Identifier: Apache-2.0
// The clock that measures, and what is known about it.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <string_view>

namespace nhalf {

/// Seconds on the monotonic clock of this host since the program started.
class SteadyClock {
 public:
  static constexpr std::string_view name = "steady_clock";

  [[nodiscard]] double now_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// What was measured about a clock: its smallest step and the time that one reading takes.
struct ClockQuality {
  double resolution_s = 0;
  double overhead_s = 0;

  /// The time that a batch must exceed by a factor before it can be trusted.
  [[nodiscard]] double floor_s() const { return std::max(resolution_s, overhead_s); }
};

/// Reads the clock of `source` many times. A virtual clock stands still: both figures are then 0,
/// unless the source states its own resolution.
template <class Source>
ClockQuality calibrate(Source& source) {
  if constexpr (requires { source.clock_resolution_s(); }) {
    return {source.clock_resolution_s(), 0};
  } else {
    constexpr int readings = 2000;
    double step_s = std::numeric_limits<double>::infinity();
    const double first_s = source.now_s();
    double previous_s = first_s;
    for (int i = 0; i < readings; ++i) {
      const double now_s = source.now_s();
      if (now_s > previous_s) step_s = std::min(step_s, now_s - previous_s);
      previous_s = now_s;
    }
    const double overhead_s = (previous_s - first_s) / readings;
    return {step_s < overhead_s * readings ? step_s : 0, overhead_s};
  }
}

}  // namespace nhalf
