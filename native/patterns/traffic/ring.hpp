#pragma once

#include "contract/pattern.hpp"
#include "patterns/bases/traffic/ring_exchange.hpp"

namespace nhalf {

inline constexpr AxisInfo ring_axes[] = {
    {"ring", "1:36", "", "1 to 6: rings of growing length; 7 to 36: one ring in random order"},
    {"method", "sendrecv,alltoallv,nonblocking", "", "how a rank exchanges with both neighbours"},
    {"seed", "1", "1", "of the random orders"}};

inline constexpr PatternInfo ring_pattern{
    .name = "ring",
    .what = "every rank sends to both neighbours in a ring: a part of the effective bandwidth",
    .needs = "duplex, non-blocking, collectives",
    .timing = Timing::slowest_rank,
    .axes = ring_axes};

NHALF_PATTERN(ring_pattern, Ring);

}  // namespace nhalf
