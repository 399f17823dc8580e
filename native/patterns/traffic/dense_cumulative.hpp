#pragma once

#include "patterns/bases/traffic/phase_loop.hpp"

namespace nhalf {

inline constexpr AxisInfo dense_cumulative_axes[] = {
    {"phase", "1:ranks/2", "", "pairs that take part"}};

inline constexpr PatternInfo dense_cumulative{.name = "dense-cumulative",
                                              .what =
                                                  "the first `phase` of the pairs (i, i + ranks/2) "
                                                  "send to each other at once: one pair in the "
                                                  "first phase, all in the last",
                                              .needs = "duplex",
                                              .timing = Timing::slowest_rank,
                                              .axes = dense_cumulative_axes};

inline Phase cumulative_phase(int rank, int ranks, const Case& point) {
  const int half = ranks / 2;
  const int pairs = point.axis("phase", 1, half);
  const bool takes_part = rank % half < pairs && rank < 2 * half;
  return Phase::with(takes_part ? (rank + half) % (2 * half) : -1, pairs);
}

template <Duplex T>
using DenseCumulative = PhaseLoop<T, cumulative_phase>;

NHALF_PATTERN(dense_cumulative, DenseCumulative);

}  // namespace nhalf
