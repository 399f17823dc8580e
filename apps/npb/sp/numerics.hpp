// SP: pentadiagonal systems along lines, one for each eigenvalue, by elimination, eight lines at
// once.
#pragma once

#include "apps/npb/clones.hpp"
#include "apps/npb/flow/implicit.hpp"
#include "apps/npb/flow/lines.hpp"
#include "apps/npb/sp/eigenvectors.hpp"
#include "apps/npb/sp/problem.hpp"

namespace nhalf::npb::sp {

/// A point after elimination: x = r - next x(+1) - after x(+2). Three quantities are carried along
/// with the flow, one by each of both sound waves.
struct Eliminated {
  Lanes next[3];
  Lanes after[3];
  LaneVec5 r;
};

constexpr int system_of(int quantity) {
  return quantity < 3 ? 0 : quantity - 2;
}

/// Quantities of a point in the implicit operator.
struct Wave {
  Lanes velocity[3];  // of the flow, and of sound with and against it
  Lanes spread;
};

template <int D>
NHALF_INLINE Wave wave_of(const State& s, const Lanes& sound) {
  const Lanes& flow = s.velocity[D];
  return {{flow, flow + sound, flow - sound}, diffusion[D] + conduction * s.volume};
}

/// The five entries of a row but for its dissipation, and `smooth`, that.
template <int D>
NHALF_INLINE void eliminate(const Wave& before, const Wave& here, const Wave& after,
                            const Implicit& step, const double (&smooth)[5], Eliminated* e) {
  Eliminated& out = e[2];
  Lanes inverse[3];
  Lanes first[3];
  Lanes second[3];
  for (int s = 0; s < 3; ++s) {
    first[s] = broadcast(smooth[0]);
    second[s] = smooth[1] - step.convective * before.velocity[s] - step.viscous * before.spread;
    Lanes centre = smooth[2] + 1.0 + 2.0 * step.viscous * here.spread;
    Lanes next = smooth[3] + step.convective * after.velocity[s] - step.viscous * after.spread;
    second[s] -= first[s] * e[0].next[s];
    centre -= first[s] * e[0].after[s] + second[s] * e[1].next[s];
    next -= second[s] * e[1].after[s];
    inverse[s] = 1.0 / centre;
    out.next[s] = next * inverse[s];
    out.after[s] = smooth[4] * inverse[s];
  }
  for (int m = 0; m < 5; ++m) {
    const int s = system_of(m);
    out.r.v[m] = (out.r.v[m] - first[s] * e[0].r.v[m] - second[s] * e[1].r.v[m]) * inverse[s];
  }
}

/// `e[0]` and `e[1]` are the points before the first; the others follow them.
template <int D>
NHALF_INLINE void eliminate_lines(const LaneVec5* u, const LaneVec5* r, const Lines& lines,
                                  const Implicit& step, Eliminated* e) {
  State state = state_of(u[0]);
  Wave before = wave_of<D>(state, sound_speed(state));
  state = state_of(u[1]);
  Lanes sound = sound_speed(state);
  Wave here = wave_of<D>(state, sound);
  for (Index p = 0; p < lines.last - lines.first; ++p) {
    e[p + 2].r = r[p];
    if (D == 0) into_x(state, sound, e[p + 2].r);
    state = state_of(u[p + 2]);
    sound = sound_speed(state);
    const Wave after = wave_of<D>(state, sound);
    double smooth[5];
    for (int o = 0; o < 5; ++o) smooth[o] = step.dt * *step.smooth[D].at(lines.first + p, o - 2);
    eliminate<D>(before, here, after, step, smooth, e + p);
    before = here;
    here = after;
  }
}

/// Solves from the last point to the first; `x[points]` and the next are those behind the last.
NHALF_INLINE void substitute_lines(const Eliminated* e, Index points, LaneVec5* x) {
  for (Index p = points - 1; p >= 0; --p) {
    for (int m = 0; m < 5; ++m) {
      const int s = system_of(m);
      x[p].v[m] =
          e[p + 2].r.v[m] - e[p + 2].next[s] * x[p + 1].v[m] - e[p + 2].after[s] * x[p + 2].v[m];
    }
  }
}

NHALF_CLONES inline void forward(std::size_t along, const Field& u, const Field& r,
                                 const Lines& lines, const Implicit& step, LineRoom& room,
                                 Eliminated* e) {
  LaneVec5* us = room.u.data();
  LaneVec5* rs = room.x.data();
  read_lines(u, lines, lines.first - 1, lines.last + 1, us);
  read_lines(r, lines, lines.first, lines.last, rs);
  if (along == 0) eliminate_lines<0>(us, rs, lines, step, e);
  if (along == 1) eliminate_lines<1>(us, rs, lines, step, e);
  if (along == 2) eliminate_lines<2>(us, rs, lines, step, e);
}

NHALF_INLINE void add_from_z(Field& u, const Lines& lines, const LaneVec5* x, LaneVec5* us) {
  read_lines(u, lines, lines.first, lines.last, us);
  for (Index p = 0; p < lines.last - lines.first; ++p) {
    const State state = state_of(us[p]);
    LaneVec5 change = x[p];
    from_z(state, us[p].v[0], sound_speed(state), change);
    for (int m = 0; m < 5; ++m) us[p].v[m] += change.v[m];
  }
  write_lines(u, lines, us);
}

NHALF_CLONES inline void backward(std::size_t along, Field& u, Field& r, const Lines& lines,
                                  LineRoom& room, const Eliminated* e) {
  const Index points = lines.last - lines.first;
  LaneVec5* x = room.x.data();
  LaneVec5* us = room.u.data();
  substitute_lines(e, points, x);
  if (along == 2) {
    add_from_z(u, lines, x, us);
    return;
  }
  // The sub-domain before this one needs the first points as they are.
  for (Index p = 0; p < points; ++p) {
    us[p] = x[p];
    along == 0 ? from_x_into_y(us[p]) : from_y_into_z(us[p]);
  }
  write_lines(r, lines, us);
}

/// The method of alternating directions; see BT's numerics.
struct Method {
  static constexpr const auto& problems = sp::problems;
  using Eliminated = sp::Eliminated;
  static constexpr Index reach = 2;
  static constexpr bool pads_messages = false;
  static constexpr auto forward = sp::forward;
  static constexpr auto backward = sp::backward;
};

}  // namespace nhalf::npb::sp
