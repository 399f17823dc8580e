// LU: a lower and an upper sweep of successive over-relaxation. Eight rows go at once, each a point
// behind the one before, so that what a point needs of its neighbours is known when it is computed.
#pragma once

#include "apps/npb/clones.hpp"
#include "apps/npb/flow/lines.hpp"
#include "apps/npb/lu/problem.hpp"
#include "apps/npb/lu/relaxation.hpp"

namespace nhalf::npb::lu {

/// Products that go over an edge of rows or of a sub-domain: five arrays.
struct Edge {
  double* values;
  Index stride;
};

/// Up to eight rows of a plane. Lane l is at point t - l of row l in step t.
struct Rows {
  Lines lines;
  Index points;     // of a row
  LaneVec5* plane;  // products for the next plane, step by step
  LaneVec5* swept;  // the result of the lower sweep
  Edge x;           // row by row: products of the points before, then of the last points
  Edge y;           // point by point: products of the row before, then of the last row
  [[nodiscard]] Index steps() const { return points + lines.count - 1; }
};

using LaneMask = decltype(Lanes{} < Lanes{});
inline constexpr Lanes lane_number{0, 1, 2, 3, 4, 5, 6, 7};

NHALF_INLINE LaneVec5 choose(const LaneMask& mask, const LaneVec5& yes, const LaneVec5& no) {
  LaneVec5 result;
  for (int m = 0; m < 5; ++m) result.v[m] = mask ? yes.v[m] : no.v[m];
  return result;
}

/// Values that rows get from the preceding points and pass to the following ones.
template <bool lower>
class Front {
 public:
  NHALF_INLINE explicit Front(const Rows& rows)
      : rows_(rows),
        lane_(lower ? rows.lines.count - 1 : 0),
        entry_(lower ? 0 : rows.lines.count - 1) {
    for (int m = 0; m < 5; ++m) {
      entering_.v[m] = load(rows.x.values + m * rows.x.stride);
      leaving_.v[m] = Lanes{};
      x_.v[m] = Lanes{};
      y_.v[m] = Lanes{};
    }
  }

  /// The sum of the products for the points of step t.
  NHALF_INLINE LaneVec5 sum(Index t) {
    const Lanes position = static_cast<double>(t) - lane_number;
    const double begin = lower ? 0.0 : static_cast<double>(rows_.points - 1);
    x_ = choose(position == begin, entering_, x_);
    LaneVec5 total;
    for (int m = 0; m < 5; ++m) {
      const Lanes row = broadcast(rows_.y.values[m * rows_.y.stride + t - entry_]);
      const Lanes shifted = lower ? __builtin_shufflevector(y_.v[m], row, 8, 0, 1, 2, 3, 4, 5, 6)
                                  : __builtin_shufflevector(y_.v[m], row, 1, 2, 3, 4, 5, 6, 7, 8);
      const Lanes y = lane_number == static_cast<double>(entry_) ? row : shifted;
      total.v[m] = x_.v[m] + y + rows_.plane[t].v[m];
    }
    return total;
  }

  NHALF_INLINE LaneMask valid(Index t) const {
    const Lanes position = static_cast<double>(t) - lane_number;
    return (position >= 0.0) & (position < static_cast<double>(rows_.points)) &
           (lane_number < static_cast<double>(rows_.lines.count));
  }

  /// Takes the products of the values v of step t.
  NHALF_INLINE void pass(Index t, const State& s, const LaneVec5& v, const Implicit& step) {
    const double convective = lower ? -step.convective : step.convective;
    const Change change = change_of(s, v);
    x_ = neighbour_product<0>(s, change, v, convective, step.viscous);
    y_ = neighbour_product<1>(s, change, v, convective, step.viscous);
    rows_.plane[t] = neighbour_product<2>(s, change, v, convective, step.viscous);
    for (int m = 0; m < 5; ++m) {
      rows_.y.values[m * rows_.y.stride + t - lane_] = y_.v[m][lane_];
    }
    const double end = lower ? static_cast<double>(rows_.points - 1) : 0.0;
    leaving_ = choose(static_cast<double>(t) - lane_number == end, x_, leaving_);
  }

  NHALF_INLINE void finish() const {
    for (int m = 0; m < 5; ++m) store(rows_.x.values + m * rows_.x.stride, leaving_.v[m]);
  }

 private:
  const Rows& rows_;
  Index lane_;   // whose products go to the next rows
  Index entry_;  // which lane takes those of the rows before
  LaneVec5 entering_, leaving_, x_, y_;
};

/// (D + omega L) v = dt r.
NHALF_CLONES inline void lower_sweep(const Field& u, const Field& r, const Rows& rows,
                                     const Implicit& step, LineRoom& room) {
  read_lines(u, rows.lines, 0, rows.steps(), room.u.data());
  read_lines(r, rows.lines, 0, rows.steps(), room.x.data());
  Front<true> front(rows);
  const LaneVec5 zero{};
  for (Index t = 0; t < rows.steps(); ++t) {
    const State s = state_of(room.u.data()[t]);
    LaneVec5 right = front.sum(t);
    for (int m = 0; m < 5; ++m) right.v[m] = step.dt * room.x.data()[t].v[m] - omega * right.v[m];
    const LaneVec5 v = choose(front.valid(t), solve_point(s, right, step.viscous), zero);
    rows.swept[t] = v;
    front.pass(t, s, v, step);
  }
  front.finish();
}

/// Writes the points of the rows.
NHALF_INLINE void write_rows(Field& u, const Rows& rows, const LaneVec5* values) {
  for (Index m = 0; m < 5; ++m) {
    for (Index t = 0; t < rows.steps(); t += lane_count) {
      Lanes tile[8];
      for (Index q = 0; q < 8; ++q) tile[q] = values[std::min(t + q, rows.steps() - 1)].v[m];
      transpose(tile);
      for (Index l = 0; l < rows.lines.count; ++l) {
        double* to = u[m] + rows.lines.base + t + l * rows.lines.lane;
        const Index begin = std::max(l - t, Index{0});
        const Index end = std::min(rows.points + l - t, lane_count);
        if (begin == 0 && end == lane_count) {
          store(to, tile[l]);
          continue;
        }
        for (Index q = begin; q < end; ++q) to[q] = tile[l][q];
      }
    }
  }
}

/// (1 + omega D^-1 U) dv = v, then u += dv / (omega (2 - omega)).
NHALF_CLONES inline void upper_sweep(Field& u, const Rows& rows, const Implicit& step,
                                     LineRoom& room) {
  read_lines(u, rows.lines, 0, rows.steps(), room.u.data());
  Front<false> front(rows);
  const LaneVec5 zero{};
  for (Index t = rows.steps() - 1; t >= 0; --t) {
    const State s = state_of(room.u.data()[t]);
    LaneVec5 right = front.sum(t);
    for (int m = 0; m < 5; ++m) right.v[m] *= omega;
    const LaneVec5 x = solve_point(s, right, step.viscous);
    LaneVec5 v;
    for (int m = 0; m < 5; ++m) v.v[m] = rows.swept[t].v[m] - x.v[m];
    v = choose(front.valid(t), v, zero);
    front.pass(t, s, v, step);
    for (int m = 0; m < 5; ++m) room.u.data()[t].v[m] += 1.0 / (omega * (2.0 - omega)) * v.v[m];
  }
  front.finish();
  write_rows(u, rows, room.u.data());
}

}  // namespace nhalf::npb::lu
