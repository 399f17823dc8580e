// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "patterns/bases/phase_loop.hpp"

namespace nhalf {

inline constexpr AxisInfo dense_pairwise_axes[] = {
    {"phase", "1:ranks-1", "", "distance within each pair"}};

inline constexpr PatternInfo dense_pairwise{
    .name = "dense-pairwise",
    .what = "ranks in pairs at distance `phase` send to each other at once",
    .needs = "duplex",
    .timing = Timing::slowest_rank,
    .axes = dense_pairwise_axes};

template <Duplex T>
class DensePairwise : public PhaseLoop<T> {
 public:
  DensePairwise(T& transport, const Case& point)
      : PhaseLoop<T>(transport, point, phase(transport.rank(), transport.size(), point)) {}

  /// In each block of 2k ranks the first k pair with those k above them (for powers of two: rank
  /// with rank XOR k); who would pair beyond the last rank is idle. Below 0: idle.
  static int partner(int rank, int ranks, int step) {
    const bool lower = rank % (2 * step) < step;
    const int partner = lower ? rank + step : rank - step;
    return partner < ranks ? partner : -1;
  }

  /// How many pairs that makes.
  static int pairs(int ranks, int step) {
    const int rest = ranks % (2 * step);
    return ranks / (2 * step) * step + std::max(0, rest - step);
  }

 private:
  static Phase phase(int rank, int ranks, const Case& point) {
    const int step = point.axis("phase", 1, ranks - 1);
    return Phase::with(partner(rank, ranks, step), pairs(ranks, step));
  }
};

NHALF_PATTERN(dense_pairwise, DensePairwise);

}  // namespace nhalf
