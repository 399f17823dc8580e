// LU: classes and official values (NAS-95-020; values as NPB 3.4 has them).
#pragma once

#include <array>

#include "apps/npb/flow/problem.hpp"

namespace nhalf::npb::lu {

inline constexpr auto problems = std::to_array<flow::Problem>({
#include "apps/npb/lu/classes.inc"
});

inline constexpr KernelInfo info{
    .name = "npb-lu",
    .what =
        "lower-upper solver: symmetric successive over-relaxation of a compressible flow, as a "
        "wavefront",
    .ranks = RankRule::two_factors,
    .classes = "SWABCD",
    .operations =
        [](char name) {
          return flow::operations_of(problem_of<flow::Problem>(problems, name),
                                     {1984.77, -10923.3, 27770.9, -144010.0});
        },
    .memory_bytes =
        [](char name) { return flow::memory_of(problem_of<flow::Problem>(problems, name), 22); },
    .ranks_max =
        [](char name) { return flow::ranks_max_of(problem_of<flow::Problem>(problems, name)); },
};

}  // namespace nhalf::npb::lu
