// LU: the integral of the pressure over the surface of a box within the cube.
#pragma once

#include "apps/npb/flow/equations.hpp"
#include "apps/npb/flow/subdomain.hpp"

namespace nhalf::npb::lu {

using flow::Field;
using flow::Index;
using flow::Subdomain;

/// The box that is integrated over, both ends included.
struct SurfaceBox {
  explicit SurfaceBox(Index n) : low{1, 1, 2}, high{n - 2, n - 3, n - 2} {}
  std::array<Index, 3> low, high;
};

inline double pressure(const Field& u, Index at) {
  const double work = u[1][at] * u[1][at] + u[2][at] * u[2][at] + u[3][at] * u[3][at];
  return flow::k2 * (u[4][at] - 0.5 * work / u[0][at]);
}

/// The sum over the faces across `d`, by the trapezoidal rule, of the points that a sub-domain has:
/// a point within a face counts four times, on its edges twice, at its corners once.
inline double face_sum(const Subdomain& box, const Field& u, std::size_t d) {
  const SurfaceBox surface(box.n);
  double sum = 0;
  flow::for_each_point(box, 0, [&](Index i, Index j, Index k) {
    const std::array<Index, 3> g{box.low[0] + i, box.low[1] + j, box.low[2] + k};
    if (g[d] != surface.low[d] && g[d] != surface.high[d]) return;
    double weight = 1;
    for (std::size_t o = 0; o < 3; ++o) {
      if (o == d) continue;
      if (g[o] < surface.low[o] || g[o] > surface.high[o]) return;
      if (g[o] != surface.low[o] && g[o] != surface.high[o]) weight *= 2;
    }
    sum += weight * pressure(u, box.at(i, j, k));
  });
  return sum;
}

/// A sub-domain's part of the integral.
inline double surface_integral(const Subdomain& box, const Field& u) {
  const auto h = 1.0 / static_cast<double>(box.n - 1);
  double sum = 0;
  for (std::size_t d = 0; d < 3; ++d) sum += face_sum(box, u, d);
  return 0.25 * h * h * sum;
}

}  // namespace nhalf::npb::lu
