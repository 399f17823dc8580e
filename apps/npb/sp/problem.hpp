// SP: classes and official values (NAS-95-020; values as NPB 3.4 has them).
#pragma once

#include <array>

#include "apps/npb/flow/problem.hpp"

namespace nhalf::npb::sp {

inline constexpr auto problems = std::to_array<flow::Problem>({
#include "apps/npb/sp/classes.inc"
});

inline constexpr KernelInfo info{
    .name = "npb-sp",
    .what =
        "scalar-pentadiagonal solver: implicit time steps of a compressible flow, diagonalised "
        "along lines",
    .ranks = RankRule::square,
    .classes = "SWABCD",
    .operations =
        [](char name) {
          return flow::operations_of(problem_of<flow::Problem>(problems, name),
                                     {881.174, -4683.91, 11484.5, -19272.4});
        },
    .memory_bytes =
        [](char name) { return flow::memory_of(problem_of<flow::Problem>(problems, name), 26); },
    .ranks_max =
        [](char name) { return flow::ranks_max_of(problem_of<flow::Problem>(problems, name)); },
};

}  // namespace nhalf::npb::sp
