// SPDX-License-Identifier: Apache-2.0
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

inline constexpr std::array problems{
    Problem{'S', 24, 10512994.20395306, 10515171.31857535, 13176389},
    Problem{'W', 25, 21025055.25182392, 21031622.09578822, 26354769},
    Problem{'A', 28, 168223563.2304711, 168219512.3368299, 210832767},
    Problem{'B', 30, 672892754.3423024, 672895182.2504275, 843345606},
    Problem{'C', 32, 2691444083.862931, 2691519118.724585, 3373275903},
    Problem{'D', 36, 43063502808.12112, 43063475718.59157, 53972171957},
};

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
