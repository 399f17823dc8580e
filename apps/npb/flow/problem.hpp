// Classes of BT, SP and LU, and the verification of a run.
#pragma once

#include <cmath>
#include <vector>

#include "apps/npb/flow/norms.hpp"
#include "apps/npb/flow/subdomain.hpp"
#include "apps/npb/kernel.hpp"

namespace nhalf::npb::flow {

/// A cube of n^3 points, steps of dt; norms after the last of them. The surface integral is LU's
/// alone.
struct Problem {
  char name;
  Index n;
  int steps;
  double dt;
  Vec5 residual;
  Vec5 error;
  double surface = 0;
};

inline constexpr double tolerance = 1e-8;  // relative

inline std::vector<Check> checks_of(const Problem& problem, const Vec5& residual,
                                    const Vec5& error) {
  constexpr std::string_view names[2][5] = {
      {"residual of density", "residual of momentum x", "residual of momentum y",
       "residual of momentum z", "residual of energy"},
      {"error of density", "error of momentum x", "error of momentum y", "error of momentum z",
       "error of energy"}};
  std::vector<Check> checks;
  for (std::size_t m = 0; m < 5; ++m)
    checks.push_back({names[0][m], residual.v[m], problem.residual.v[m], tolerance});
  for (std::size_t m = 0; m < 5; ++m)
    checks.push_back({names[1][m], error.v[m], problem.error.v[m], tolerance});
  return checks;
}

/// Operations as the reference counts them: a polynomial in n, for each step.
inline double operations_of(const Problem& problem, const std::array<double, 4>& cubic) {
  const auto n = static_cast<double>(problem.n);
  return problem.steps * (((cubic[0] * n + cubic[1]) * n + cubic[2]) * n + cubic[3]);
}

/// Returns the bytes of some numbers per point, points around the cube included.
inline double memory_of(const Problem& problem, double numbers) {
  const auto n = static_cast<double>(problem.n);
  return 8 * numbers * (n + 12) * (n + 4) * (n + 4);
}

/// The most ranks of a square: what neighbours need of a rank's points lies within a halo of them.
inline int ranks_max_of(const Problem& problem) {
  const auto side = static_cast<int>(problem.n / halo);
  return side * side;
}

}  // namespace nhalf::npb::flow
