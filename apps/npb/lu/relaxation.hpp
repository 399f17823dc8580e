// LU: what a point's change means for its neighbours, and the solution at the point itself.
#pragma once

#include "apps/npb/flow/implicit.hpp"
#include "apps/npb/flow/jacobian.hpp"

namespace nhalf::npb::lu {

using namespace flow;  // NOLINT: the kernel is made of it

inline constexpr double omega = 1.2;  // over-relaxation

/// First-order changes of what fluxes are made of, for a change of the conserved quantities.
struct Change {
  Lanes velocity[3];
  Lanes total;
  Lanes pressure;
};

NHALF_INLINE Change change_of(const State& s, const LaneVec5& v) {
  Change c;
  Lanes work{};
  for (int d = 0; d < 3; ++d) {
    c.velocity[d] = (v.v[d + 1] - s.velocity[d] * v.v[0]) * s.volume;
    work += s.velocity[d] * v.v[d + 1];
  }
  c.total = (v.v[4] - s.total * v.v[0]) * s.volume;
  c.pressure = k2 * (v.v[4] - work + s.kinetic * v.v[0]);
  return c;
}

/// (convective dF/du - viscous (dN/du + diffusion)) v along `D`, without the matrix.
template <int D>
NHALF_INLINE LaneVec5 neighbour_product(const State& s, const Change& c, const LaneVec5& v,
                                        double convective, double viscous) {
  LaneVec5 w;
  const Lanes vn = s.velocity[D];
  const Lanes flow = v.v[D + 1] - vn * v.v[0];
  w.v[0] = convective * v.v[D + 1] - viscous * diffusion[D] * v.v[0];
  Lanes friction = viscosity / 3.0 * vn * c.velocity[D] + conduction * c.total;
  for (int m = 1; m < 4; ++m) {
    Lanes momentum = vn * v.v[m] + s.velocity[m - 1] * flow;
    if (m == D + 1) momentum += c.pressure;
    w.v[m] = convective * momentum -
             viscous * (viscosity_of<D>(m) * c.velocity[m - 1] + diffusion[D] * v.v[m]);
    friction += (viscosity - conduction) * s.velocity[m - 1] * c.velocity[m - 1];
  }
  const Lanes enthalpy = s.total + k2 * (s.total - s.kinetic);
  w.v[4] = convective * ((v.v[4] + c.pressure) * vn + enthalpy * flow) -
           viscous * (friction + diffusion[D] * v.v[4]);
  return w;
}

/// Solves the equations of the point itself, 1 + 2 viscous (dN/du + diffusion) summed over the
/// directions, in which central differences cancel: a triangular system.
NHALF_INLINE LaneVec5 solve_point(const State& s, const LaneVec5& r, double viscous) {
  constexpr double spread = diffusion[0] + diffusion[1] + diffusion[2];
  constexpr double mu = (2.0 + four_thirds) * viscosity;
  constexpr double work = 3.0 * (viscosity - conduction) + viscosity / 3.0;
  const Lanes by_volume = 2.0 * viscous * s.volume;
  const double diagonal = 1.0 + 2.0 * viscous * spread;
  LaneVec5 x;
  x.v[0] = r.v[0] * (1.0 / diagonal);
  const Lanes inverse = 1.0 / (diagonal + mu * by_volume);
  Lanes friction = -3.0 * conduction * s.total * x.v[0];
  for (int m = 1; m < 4; ++m) {
    const Lanes velocity = s.velocity[m - 1];
    x.v[m] = (r.v[m] + mu * by_volume * velocity * x.v[0]) * inverse;
    friction += work * velocity * (x.v[m] - velocity * x.v[0]);
  }
  x.v[4] = (r.v[4] - by_volume * friction) / (diagonal + 3.0 * conduction * by_volume);
  return x;
}

}  // namespace nhalf::npb::lu
