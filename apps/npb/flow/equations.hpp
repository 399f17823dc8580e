// The constants of the discretised equations (RNR-94-007, section 3.4) and their exact solution.
#pragma once

#include <array>

#include "apps/npb/flow/lanes.hpp"

namespace nhalf::npb::flow {

// k1 to k5 of the specification: ratio of specific heats, k1 - 1, viscosity, conductivity.
inline constexpr double k1 = 1.4, k2 = 0.4, k3 = 0.1, k4 = 1.0, k5 = 1.4;
inline constexpr double viscosity = k3 * k4;
inline constexpr double four_thirds = 4.0 / 3.0;
inline constexpr double conduction = k1 * k5 * viscosity;
// Coefficients of the second differences of momentum, in x, y and z, and of the fourth differences
// of all quantities.
inline constexpr std::array<double, 3> diffusion{0.75, 0.75, 1.0};
inline constexpr double dissipation = 0.25 * 1.0;

/// Viscosity that acts on momentum m (1 to 3) along direction `D`.
template <int D>
constexpr double viscosity_of(int m) {
  return m == D + 1 ? four_thirds * viscosity : viscosity;
}

/// Factors of differences on a grid of n points from 0 to 1.
struct Spacing {
  explicit Spacing(Index points)
      : n(points),
        second(static_cast<double>((n - 1) * (n - 1))),
        central(0.5 * static_cast<double>(n - 1)) {}
  [[nodiscard]] double coordinate(Index i) const {
    return static_cast<double>(i) / static_cast<double>(n - 1);
  }

  Index n;
  double second;   // 1 / h^2
  double central;  // 1 / (2 h)
};

// The exact solution is a polynomial of degree four in each coordinate: constant, then x, y, z,
// x^2, y^2, z^2 and so on (table 3.1 of the specification).
inline constexpr double exact_coefficients[5][13] = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2}};

inline Vec5 exact_solution(const std::array<double, 3>& at) {
  Vec5 u{};
  for (std::size_t m = 0; m < 5; ++m) {
    const double* c = exact_coefficients[m];
    u.v[m] = c[0];
    for (std::size_t d = 0; d < 3; ++d) {
      const double x = at[d];
      u.v[m] += x * (c[1 + d] + x * (c[4 + d] + x * (c[7 + d] + x * c[10 + d])));
    }
  }
  return u;
}

}  // namespace nhalf::npb::flow
