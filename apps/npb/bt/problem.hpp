// BT: classes and official values (NAS-95-020; values as NPB 3.4 has them).
#pragma once

#include <array>

#include "apps/npb/flow/problem.hpp"

namespace nhalf::npb::bt {

inline constexpr auto problems = std::to_array<flow::Problem>({
#include "apps/npb/bt/classes.inc"
});

inline constexpr KernelInfo info{
    .name = "npb-bt",
    .what =
        "block-tridiagonal solver: implicit time steps of a compressible flow, 5 x 5 blocks along "
        "lines",
    .ranks = RankRule::square,
    .classes = "SWABCD",
    .operations =
        [](char name) {
          return flow::operations_of(problem_of<flow::Problem>(problems, name),
                                     {3478.8, -17655.7, 28023.7, 0.0});
        },
    .memory_bytes =
        [](char name) { return flow::memory_of(problem_of<flow::Problem>(problems, name), 46); },
    .ranks_max =
        [](char name) { return flow::ranks_max_of(problem_of<flow::Problem>(problems, name)); },
};

}  // namespace nhalf::npb::bt
