// BT: block-tridiagonal systems along lines, by block Gaussian elimination, eight lines at once.
#pragma once

#include "apps/npb/bt/problem.hpp"
#include "apps/npb/clones.hpp"
#include "apps/npb/flow/implicit.hpp"
#include "apps/npb/flow/jacobian.hpp"
#include "apps/npb/flow/lines.hpp"

namespace nhalf::npb::bt {

using namespace flow;  // NOLINT: the kernel is made of it

/// A point after elimination: x = r - c x(next).
struct Eliminated {
  LaneBlock c;
  LaneVec5 r;
};

/// Subtracts what the point before says, then makes the diagonal block the identity.
template <int D>
NHALF_INLINE void eliminate(const LaneBlock& a, LaneBlock& b, const Eliminated& before,
                            Eliminated& here) {
  for (int row = 0; row < 5; ++row) {
    for (int k = 0; k < 5; ++k) {
      if (!couples<D>(row, k)) continue;
      const Lanes factor = a.e[row][k];
      for (int column = 0; column < 5; ++column) b.e[row][column] -= factor * before.c.e[k][column];
      here.r.v[row] -= factor * before.r.v[k];
    }
  }
  for (int pivot = 0; pivot < 5; ++pivot) {
    const Lanes inverse = 1.0 / b.e[pivot][pivot];
    for (int column = pivot + 1; column < 5; ++column) b.e[pivot][column] *= inverse;
    for (int column = 0; column < 5; ++column) here.c.e[pivot][column] *= inverse;
    here.r.v[pivot] *= inverse;
    for (int row = 0; row < 5; ++row) {
      if (row == pivot) continue;
      const Lanes factor = b.e[row][pivot];
      for (int column = pivot + 1; column < 5; ++column) {
        b.e[row][column] -= factor * b.e[pivot][column];
      }
      for (int column = 0; column < 5; ++column) {
        here.c.e[row][column] -= factor * here.c.e[pivot][column];
      }
      here.r.v[row] -= factor * here.r.v[pivot];
    }
  }
}

/// `e[0]` is the point before the first; the others follow it.
template <int D>
NHALF_INLINE void eliminate_lines(const LaneVec5* u, const LaneVec5* r, Index points,
                                  const Implicit& step, Eliminated* e) {
  State before = state_of(u[0]);
  State here = state_of(u[1]);
  for (Index p = 0; p < points; ++p) {
    const State after = state_of(u[p + 2]);
    LaneBlock a;
    LaneBlock b;
    Eliminated& out = e[p + 1];
    for (auto& row : out.c.e) {
      for (auto& entry : row) entry = Lanes{};
    }
    neighbour_block<D>(before, -step.convective, step.viscous, a);
    centre_block<D>(here, step.viscous, b);
    neighbour_block<D>(after, step.convective, step.viscous, out.c);
    out.r = r[p];
    eliminate<D>(a, b, e[p], out);
    before = here;
    here = after;
  }
}

/// Solves from the last point to the first; `x[points]` is the solution behind the last.
NHALF_INLINE void substitute_lines(const Eliminated* e, Index points, LaneVec5* x) {
  for (Index p = points - 1; p >= 0; --p) {
    for (int row = 0; row < 5; ++row) {
      Lanes sum = e[p + 1].r.v[row];
      for (int k = 0; k < 5; ++k) sum -= e[p + 1].c.e[row][k] * x[p + 1].v[k];
      x[p].v[row] = sum;
    }
  }
}

NHALF_CLONES inline void forward(std::size_t along, const Field& u, const Field& r,
                                 const Lines& lines, const Implicit& step, LineRoom& room,
                                 Eliminated* e) {
  const Index points = lines.last - lines.first;
  LaneVec5* us = room.u.data();
  LaneVec5* rs = room.x.data();
  read_lines(u, lines, lines.first - 1, lines.last + 1, us);
  read_lines(r, lines, lines.first, lines.last, rs);
  if (along == 0) eliminate_lines<0>(us, rs, points, step, e);
  if (along == 1) eliminate_lines<1>(us, rs, points, step, e);
  if (along == 2) eliminate_lines<2>(us, rs, points, step, e);
}

NHALF_CLONES inline void backward(std::size_t along, Field& u, Field& r, const Lines& lines,
                                  LineRoom& room, const Eliminated* e) {
  const Index points = lines.last - lines.first;
  LaneVec5* x = room.x.data();
  substitute_lines(e, points, x);
  if (along != 2) {
    write_lines(r, lines, x);
    return;
  }
  LaneVec5* us = room.u.data();
  read_lines(u, lines, lines.first, lines.last, us);
  for (Index p = 0; p < points; ++p) {
    for (int m = 0; m < 5; ++m) us[p].v[m] += x[p].v[m];
  }
  write_lines(u, lines, us);
}

/// The method of alternating directions; SP's numerics have the same names.
struct Method {
  static constexpr const auto& problems = bt::problems;
  using Eliminated = bt::Eliminated;
  /// Number of points at the end of a sub-domain that the next one needs.
  static constexpr Index reach = 1;
  /// Whether message buffers hold a whole face of the largest cell, whatever its content.
  static constexpr bool pads_messages = true;
  /// Eliminates a batch: `e` begins with `reach` points of the sub-domain before.
  static constexpr auto forward = bt::forward;
  /// Solves a batch: `room.x` ends with `reach` points of the next sub-domain. The solution
  /// replaces the right-hand side; that of the last direction is added to the quantities.
  static constexpr auto backward = bt::backward;
};

}  // namespace nhalf::npb::bt
