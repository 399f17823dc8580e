#pragma once

#include <algorithm>

#include "patterns/bases/traffic/phase_loop.hpp"

namespace nhalf {

inline constexpr AxisInfo dense_pairwise_axes[] = {
    {"phase", "1:ranks-1", "", "distance within each pair"}};

inline constexpr PatternInfo dense_pairwise{
    .name = "dense-pairwise",
    .what = "ranks in pairs at distance `phase` send to each other at once",
    .needs = "duplex",
    .timing = Timing::slowest_rank,
    .axes = dense_pairwise_axes};

/// In each block of 2k ranks the first k pair with those k above them (for powers of two: rank
/// with rank XOR k); who would pair beyond the last rank is idle. Below 0: idle.
inline int pairwise_partner(int rank, int ranks, int step) {
  const bool lower = rank % (2 * step) < step;
  const int partner = lower ? rank + step : rank - step;
  return partner < ranks ? partner : -1;
}

/// How many pairs that makes.
inline int pairwise_pairs(int ranks, int step) {
  const int remainder = ranks % (2 * step);
  return ranks / (2 * step) * step + std::max(0, remainder - step);
}

inline Phase pairwise_phase(int rank, int ranks, const Case& point) {
  const int step = point.axis("phase", 1, ranks - 1);
  return Phase::with(pairwise_partner(rank, ranks, step), pairwise_pairs(ranks, step));
}

template <Duplex T>
using DensePairwise = PhaseLoop<T, pairwise_phase>;

NHALF_PATTERN(dense_pairwise, DensePairwise);

}  // namespace nhalf
