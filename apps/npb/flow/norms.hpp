// Sums of squares of a sub-domain, and what becomes of them once all are added up.
#pragma once

#include <cmath>

#include "apps/npb/flow/initial.hpp"

namespace nhalf::npb::flow {

inline void add_error_squares(const Subdomain& box, const Field& u, Vec5& sum) {
  for_each_point(box, 0, [&](Index i, Index j, Index k) {
    const Vec5 exact = exact_solution(coordinates(box, i, j, k));
    for (std::size_t m = 0; m < 5; ++m) {
      const double error = u[static_cast<Index>(m)][box.at(i, j, k)] - exact.v[m];
      sum.v[m] += error * error;
    }
  });
}

inline void add_squares(const Subdomain& box, const Field& r, Vec5& sum) {
  for_each_point(box, 0, [&](Index i, Index j, Index k) {
    if (!box.inside(i, j, k)) return;
    for (std::size_t m = 0; m < 5; ++m) {
      const double value = r[static_cast<Index>(m)][box.at(i, j, k)];
      sum.v[m] += value * value;
    }
  });
}

/// Root mean square over the interior points of the cube.
inline Vec5 root_mean_square(const Vec5& sum, Index n) {
  const auto points = static_cast<double>((n - 2) * (n - 2) * (n - 2));
  Vec5 norm{};
  for (std::size_t m = 0; m < 5; ++m) norm.v[m] = std::sqrt(sum.v[m] / points);
  return norm;
}

}  // namespace nhalf::npb::flow
