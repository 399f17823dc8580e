// SP: the eigenvectors T of the fluxes' derivatives decouple the five quantities; between two
// directions only products of two of them are needed (RNR-94-007, section 3.5).
#pragma once

#include "apps/npb/flow/jacobian.hpp"

namespace nhalf::npb::sp {

using namespace flow;  // NOLINT: the kernel is made of it

inline constexpr double root_half = 0.70710678118654752440;

NHALF_INLINE Lanes root(const Lanes& value) {
  Lanes result;
  for (int lane = 0; lane < lane_count; ++lane) result[lane] = __builtin_sqrt(value[lane]);
  return result;
}

NHALF_INLINE Lanes sound_speed(const State& s) {
  return root(k1 * k2 * (s.total - s.kinetic));
}

/// r becomes T_x^-1 r.
NHALF_INLINE void into_x(const State& s, const Lanes& sound, LaneVec5& r) {
  const Lanes* v = s.velocity;
  const Lanes work = s.kinetic * r.v[0] - v[0] * r.v[1] - v[1] * r.v[2] - v[2] * r.v[3] + r.v[4];
  const Lanes pressure = k2 * work / (sound * sound);
  const Lanes moved = root_half * s.volume * (v[0] * r.v[0] - r.v[1]);
  const Lanes pushed = root_half * s.volume * sound * pressure;
  const Lanes across_y = s.volume * (v[1] * r.v[0] - r.v[2]);
  const Lanes across_z = s.volume * (r.v[3] - v[2] * r.v[0]);
  r.v[0] -= pressure;
  r.v[1] = across_z;
  r.v[2] = across_y;
  r.v[3] = pushed - moved;
  r.v[4] = pushed + moved;
}

/// r becomes T_y^-1 T_x r.
NHALF_INLINE void from_x_into_y(LaneVec5& r) {
  const Lanes along = root_half * r.v[2];
  const Lanes sum = 0.5 * (r.v[3] + r.v[4]);
  const Lanes first = r.v[0];
  r.v[0] = -r.v[1];
  r.v[1] = first;
  r.v[2] = root_half * (r.v[3] - r.v[4]);
  r.v[3] = sum - along;
  r.v[4] = sum + along;
}

/// r becomes T_z^-1 T_y r.
NHALF_INLINE void from_y_into_z(LaneVec5& r) {
  const Lanes along = root_half * r.v[0];
  const Lanes sum = 0.5 * (r.v[3] + r.v[4]);
  const Lanes second = r.v[1];
  r.v[0] = root_half * (r.v[3] - r.v[4]);
  r.v[1] = -r.v[2];
  r.v[2] = second;
  r.v[3] = sum - along;
  r.v[4] = sum + along;
}

/// r becomes T_z r.
NHALF_INLINE void from_z(const State& s, const Lanes& density, const Lanes& sound, LaneVec5& r) {
  const Lanes* v = s.velocity;
  const Lanes scale = root_half * density;
  const Lanes pressure = scale / sound * (r.v[3] + r.v[4]);
  const Lanes along = scale * (r.v[3] - r.v[4]);
  const Lanes mass = r.v[2] + pressure;
  const Lanes across_x = -density * r.v[1];
  const Lanes across_y = density * r.v[0];
  r.v[0] = mass;
  r.v[1] = across_x + v[0] * mass;
  r.v[2] = across_y + v[1] * mass;
  r.v[3] = along + v[2] * mass;
  r.v[4] = v[0] * across_x + v[1] * across_y + v[2] * along + s.kinetic * mass +
           sound * sound * pressure / k2;
}

}  // namespace nhalf::npb::sp
