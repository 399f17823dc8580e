// Values before the first step: exact on the cube's surface, blended from its faces within.
#pragma once

#include "apps/npb/flow/equations.hpp"
#include "apps/npb/flow/subdomain.hpp"

namespace nhalf::npb::flow {

inline std::array<double, 3> coordinates(const Subdomain& box, Index i, Index j, Index k) {
  const Spacing grid(box.n);
  return {grid.coordinate(box.low[0] + i), grid.coordinate(box.low[1] + j),
          grid.coordinate(box.low[2] + k)};
}

inline void set_point(Field& u, Index point, const Vec5& value) {
  for (Index m = 0; m < 5; ++m) u[m][point] = value.v[static_cast<std::size_t>(m)];
}

/// The linear interpolation between two opposite faces, for each direction, blended.
inline Vec5 blended(const std::array<double, 3>& at) {
  std::array<Vec5, 3> p{};
  for (std::size_t d = 0; d < 3; ++d) {
    auto low = at;
    auto high = at;
    low[d] = 0.0;
    high[d] = 1.0;
    const Vec5 u_low = exact_solution(low);
    const Vec5 u_high = exact_solution(high);
    for (std::size_t m = 0; m < 5; ++m) {
      p[d].v[m] = at[d] * u_high.v[m] + (1.0 - at[d]) * u_low.v[m];
    }
  }
  Vec5 u{};
  for (std::size_t m = 0; m < 5; ++m) {
    const double x = p[0].v[m];
    const double y = p[1].v[m];
    const double z = p[2].v[m];
    u.v[m] = x + y + z - x * y - x * z - y * z + x * y * z;
  }
  return u;
}

inline void set_initial(const Subdomain& box, Field& u) {
  for_each_point(box, 0, [&](Index i, Index j, Index k) {
    const auto at = coordinates(box, i, j, k);
    set_point(u, box.at(i, j, k), box.inside(i, j, k) ? blended(at) : exact_solution(at));
  });
}

/// The exact solution at all points, and at those around them that are in the cube.
inline void set_exact(const Subdomain& box, Index margin, Field& u) {
  const auto in_cube = [&](Index low, Index local) {
    return low + local >= 0 && low + local < box.n;
  };
  for_each_point(box, margin, [&](Index i, Index j, Index k) {
    if (in_cube(box.low[0], i) && in_cube(box.low[1], j) && in_cube(box.low[2], k)) {
      set_point(u, box.at(i, j, k), exact_solution(coordinates(box, i, j, k)));
    }
  });
}

}  // namespace nhalf::npb::flow
