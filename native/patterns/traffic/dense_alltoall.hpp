#pragma once

#include "patterns/bases/traffic/phase_loop.hpp"

namespace nhalf {

inline constexpr AxisInfo dense_alltoall_axes[] = {
    {"phase", "1:ranks-1", "", "distance to the receiver"}};

inline constexpr PatternInfo dense_alltoall{.name = "dense-alltoall",
                                            .what =
                                                "every rank sends to the one `phase` above it and "
                                                "receives from the one `phase` below: one phase "
                                                "of an all-to-all exchange without congestion",
                                            .needs = "duplex",
                                            .timing = Timing::slowest_rank,
                                            .axes = dense_alltoall_axes};

inline Phase alltoall_phase(int rank, int ranks, const Case& point) {
  const int step = point.axis("phase", 1, ranks - 1);
  return {{(rank + step) % ranks}, {(rank + ranks - step) % ranks}, ranks};
}

template <Duplex T>
using DenseAlltoall = PhaseLoop<T, alltoall_phase>;

NHALF_PATTERN(dense_alltoall, DenseAlltoall);

}  // namespace nhalf
