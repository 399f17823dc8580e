// SPDX-License-Identifier: Apache-2.0
// The threads of a kernel in OpenMP.
#pragma once

#include <limits>

namespace nhalf::npb {

/// A team of threads. Kernels give `threads` to their parallel regions.
class OpenMpWorld {
 public:
  static constexpr bool divides_data = false;

  explicit OpenMpWorld(int wanted) : threads(wanted) {}

  int threads = 1;

  void reset_communication() {}
  /// Threads share memory: what they take from each other is not a call that could be timed.
  [[nodiscard]] double communication_s() const { return std::numeric_limits<double>::quiet_NaN(); }
};

}  // namespace nhalf::npb
