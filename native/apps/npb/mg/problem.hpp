// SPDX-License-Identifier: Apache-2.0
// MG: classes and official values (RNR-94-007 and NPB 3.4).
#pragma once

#include <array>
#include <bit>

#include "apps/npb/kernel.hpp"

namespace nhalf::npb::mg {

/// Poisson's equation on size^3 points with periodic ends, approximated by V-cycles.
struct Problem {
  char name;
  int size;
  int iterations;
  /// The smoother: of the centre, faces, edges; of corners it is 0.
  std::array<double, 3> smoother;
  double norm;

  /// Grids, of which the coarsest has two points in each direction.
  [[nodiscard]] int levels() const { return std::bit_width(static_cast<unsigned>(size)) - 1; }
};

inline constexpr std::array coarse_smoother{-3.0 / 8, 1.0 / 32, -1.0 / 64};
inline constexpr std::array fine_smoother{-3.0 / 17, 1.0 / 33, -1.0 / 61};

inline constexpr std::array problems{
    Problem{'S', 32, 4, coarse_smoother, 5.307707005734e-05},
    Problem{'W', 128, 4, coarse_smoother, 6.467329375339e-06},
    Problem{'A', 256, 4, coarse_smoother, 2.433365309069e-06},
    Problem{'B', 256, 20, fine_smoother, 1.800564401355e-06},
    Problem{'C', 512, 20, fine_smoother, 5.70673228574e-07},
    Problem{'D', 1024, 50, fine_smoother, 1.58327506044e-10},
};

inline constexpr double tolerance = 1e-8;

inline double points(const Problem& problem) {
  return static_cast<double>(problem.size) * problem.size * problem.size;
}

/// As the reference counts them: 58 for a point and iteration.
inline double operations(char name) {
  const auto& problem = problem_of<Problem>(problems, name);
  return 58.0 * problem.iterations * points(problem);
}

inline double memory_bytes(char name) {
  // The right side, and two grids on every level: one and an eighth and so on.
  return 8 * points(problem_of<Problem>(problems, name)) * (1 + 2 * 8.0 / 7) * 1.05;
}

inline constexpr KernelInfo info{
    .name = "npb-mg",
    .what = "multigrid: V-cycles for Poisson's equation",
    .ranks = RankRule::power_of_two,
    .classes = "SWABCD",
    .operations = operations,
    .memory_bytes = memory_bytes,
};

}  // namespace nhalf::npb::mg
