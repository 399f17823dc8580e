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
  std::array<double, 3> smoothing;
  double norm;

  /// The smoother: of the centre, faces, edges; of corners it is 0.
  [[nodiscard]] std::array<double, 3> smoother() const {
    return {-3 / smoothing[0], 1 / smoothing[1], -1 / smoothing[2]};
  }

  /// Grids, of which the coarsest has two points in each direction.
  [[nodiscard]] int levels() const {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(size))) - 1;
  }
};

inline constexpr auto problems = std::to_array<Problem>({
#include "apps/npb/mg/classes.inc"
});

inline constexpr double tolerance = 1e-8;

inline double points(const Problem& problem) {
  return static_cast<double>(problem.size) * problem.size * problem.size;
}

/// Returns the operations as the reference counts them: 58 per point and iteration.
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
    .has_grids = true,
};

}  // namespace nhalf::npb::mg
