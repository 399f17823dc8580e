// EP: classes and official values (RNR-94-007; values as NPB 3.4 has them).
#pragma once

#include <array>
#include <cmath>

#include "apps/npb/kernel.hpp"

namespace nhalf::npb::ep {

/// 2^log_pairs pairs; sums of |X| and |Y|, and how many pairs there are.
struct Problem {
  char name;
  int log_pairs;
  double sum_x;
  double sum_y;
  double count;
};

inline constexpr auto problems = std::to_array<Problem>({
#include "apps/npb/ep/classes.inc"
});

inline constexpr double tolerance = 1e-8;

inline constexpr KernelInfo info{
    .name = "npb-ep",
    .what = "embarrassingly parallel: Gaussian pairs of random numbers, counted by annulus",
    .ranks = RankRule::any,
    .classes = "SWABCD",
    .operations =
        [](char name) {
          return std::ldexp(1.0, problem_of<Problem>(problems, name).log_pairs + 1);
        },
    .memory_bytes = [](char) { return 1e6; },
};

}  // namespace nhalf::npb::ep
