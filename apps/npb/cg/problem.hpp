// CG: classes and official values (RNR-94-007 and NPB 3.4).
#pragma once

#include <array>

#include "apps/npb/kernel.hpp"

namespace nhalf::npb::cg {

/// An estimate of the smallest eigenvalue of a random sparse matrix of `size` rows, whose vectors
/// have `nonzeros` elements, in `iterations` steps of inverse iteration with `shift`.
struct Problem {
  char name;
  int size;
  int nonzeros;
  int iterations;
  double shift;
  double zeta;
};

inline constexpr auto problems = std::to_array<Problem>({
#include "apps/npb/cg/classes.inc"
});

/// Steps of conjugate gradients in one of inverse iteration.
inline constexpr int inner_steps = 25;
inline constexpr double condition = 0.1;
inline constexpr double tolerance = 1e-10;

inline double operations(char name) {
  const auto& problem = problem_of<Problem>(problems, name);
  const double per_row = problem.nonzeros * (problem.nonzeros + 1.0);
  return 2.0 * problem.iterations * problem.size * (3 + per_row + inner_steps * (5 + per_row) + 3);
}

inline double memory_bytes(char name) {
  const auto& problem = problem_of<Problem>(problems, name);
  const double vector = problem.nonzeros + 1.0;
  return problem.size * (12.0 * vector * vector + 6 * 8.0);
}

inline constexpr KernelInfo info{
    .name = "npb-cg",
    .what = "conjugate gradients: the smallest eigenvalue of a random sparse matrix",
    .ranks = RankRule::power_of_two,
    .classes = "SWABCD",
    .operations = operations,
    .memory_bytes = memory_bytes,
};

}  // namespace nhalf::npb::cg
