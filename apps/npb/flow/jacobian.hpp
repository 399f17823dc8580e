// Derivatives of fluxes by the conserved quantities, as 5 x 5 blocks that hold eight points each.
#pragma once

#include "apps/npb/flow/equations.hpp"

namespace nhalf::npb::flow {

struct alignas(64) LaneBlock {
  Lanes e[5][5];
};

/// Quantities from which the derivatives are formed.
struct State {
  Lanes velocity[3];
  Lanes volume;   // 1 / density
  Lanes kinetic;  // energies per mass
  Lanes total;
};

NHALF_INLINE State state_of(const LaneVec5& u) {
  State s;
  s.volume = 1.0 / u.v[0];
  for (int d = 0; d < 3; ++d) s.velocity[d] = u.v[d + 1] * s.volume;
  s.kinetic = 0.5 * (s.velocity[0] * s.velocity[0] + s.velocity[1] * s.velocity[1] +
                     s.velocity[2] * s.velocity[2]);
  s.total = u.v[4] * s.volume;
  return s;
}

/// Whether an entry of a flux's derivative along `D` can differ from zero.
template <int D>
constexpr bool couples(int row, int column) {
  if (row == 0) return column == 0 || column == D + 1;
  if (row == 4 || row == D + 1) return true;
  return column == 0 || column == row || column == D + 1;
}

/// d(energy's viscous flux) / d(density), without the factor 1 / density.
template <int D>
NHALF_INLINE Lanes dissipated(const State& s) {
  Lanes sum = conduction * s.total;
  for (int d = 0; d < 3; ++d) {
    sum += (viscosity_of<D>(d + 1) - conduction) * (s.velocity[d] * s.velocity[d]);
  }
  return sum;
}

/// convective * dF/du - viscous * (dN/du + diffusion); only entries that couple are set.
template <int D>
NHALF_INLINE void neighbour_block(const State& s, double convective, double viscous, LaneBlock& b) {
  constexpr int n = D + 1;
  const Lanes vn = s.velocity[D];
  const Lanes by_volume = viscous * s.volume;
  const double spread = viscous * diffusion[D];
  b.e[0][0] = broadcast(-spread);
  b.e[0][n] = broadcast(convective);
#pragma GCC unroll 3
  for (int m = 1; m < 4; ++m) {
    const Lanes vm = s.velocity[m - 1];
    const double mu = viscosity_of<D>(m);
    const Lanes cross = convective * vm;
    b.e[m][0] = mu * by_volume * vm - cross * vn;
    b.e[m][m] = convective * vn - mu * by_volume - spread;
    b.e[4][m] = -k2 * cross * vn - (mu - conduction) * by_volume * vm;
    if (m == n) continue;
    b.e[m][n] = cross;
    b.e[n][m] = -k2 * cross;
  }
  b.e[n][0] += convective * k2 * s.kinetic;
  b.e[n][n] += convective * (1.0 - k2) * vn;
  b.e[n][4] = broadcast(convective * k2);
  b.e[4][0] =
      convective * vn * (2.0 * k2 * s.kinetic - k1 * s.total) + by_volume * dissipated<D>(s);
  b.e[4][n] += convective * (k1 * s.total - k2 * s.kinetic);
  b.e[4][4] = convective * k1 * vn - conduction * by_volume - spread;
}

/// 1 + 2 viscous * (dN/du + diffusion), all entries.
template <int D>
NHALF_INLINE void centre_block(const State& s, double viscous, LaneBlock& b) {
  const Lanes by_volume = 2.0 * viscous * s.volume;
  const double diagonal = 1.0 + 2.0 * viscous * diffusion[D];
  for (auto& row : b.e) {
    for (auto& entry : row) entry = Lanes{};
  }
  b.e[0][0] = broadcast(diagonal);
#pragma GCC unroll 3
  for (int m = 1; m < 4; ++m) {
    const Lanes vm = s.velocity[m - 1];
    const double mu = viscosity_of<D>(m);
    b.e[m][0] = -mu * by_volume * vm;
    b.e[m][m] = diagonal + mu * by_volume;
    b.e[4][m] = (mu - conduction) * by_volume * vm;
  }
  b.e[4][0] = -by_volume * dissipated<D>(s);
  b.e[4][4] = diagonal + conduction * by_volume;
}

}  // namespace nhalf::npb::flow
