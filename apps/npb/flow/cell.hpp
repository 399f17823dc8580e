// Alternating directions (BT and SP) on one sub-domain, without communication.
#pragma once

#include <vector>

#include "apps/npb/flow/implicit.hpp"
#include "apps/npb/flow/lines.hpp"
#include "apps/npb/flow/problem.hpp"
#include "apps/npb/flow/residual.hpp"

namespace nhalf::npb::flow {

/// Work memory of a thread. `points` are those of the longest line.
template <class Method>
struct CellRoom {
  explicit CellRoom(const Subdomain& box, Index points)
      : residual(box),
        lines(points),
        eliminated(static_cast<std::size_t>(points + Method::reach)) {}
  Residual residual;
  LineRoom lines;
  std::vector<typename Method::Eliminated> eliminated;
};

template <class Method>
struct Cell {
  using Room = CellRoom<Method>;

  Cell(const Subdomain& where, double dt)
      : box(where), implicit(box, dt), u(box, 1.0), r(box, 0.0), forcing(box, 0.0) {
    set_exact(box, halo, u);
    set_forcing(box, u, forcing);
  }

  void set_residual(Room& room, double scale) {
    room.residual.start(u, box.first(2));
    for (Index k = box.first(2); k < box.last(2); ++k) room.residual.plane(u, forcing, scale, r, k);
  }

  /// Planes [from, to): the right-hand side, then lines in x and y while it is in the cache.
  void step_planes(Room& room, Index from, Index to) {
    if (from >= to) return;
    room.residual.start(u, from);
    for (Index k = from; k < to; ++k) {
      room.residual.plane(u, forcing, implicit.dt, r, k);
      solve(0, k, room);
      solve(1, k, room);
    }
  }

  /// Lines in z, once all planes are ready, and the change of the quantities: rows [from, to).
  void step_across(Room& room, Index from, Index to) {
    for (Index j = from; j < to; ++j) solve(2, j, room);
  }

  /// All lines along a direction in one plane, from one side of the cube to the other.
  void solve(std::size_t along, Index plane, Room& room) {
    const LineSet set(box, along);
    for (Index batch = 0; batch < set.batches(); ++batch) {
      const Lines lines = set.batch(plane, batch);
      // Nothing comes from before the first point or from behind the last.
      std::fill_n(room.eliminated.data(), Method::reach, typename Method::Eliminated{});
      std::fill_n(room.lines.x.data() + set.points(), Method::reach, LaneVec5{});
      Method::forward(along, u, r, lines, implicit, room.lines, room.eliminated.data());
      Method::backward(along, u, r, lines, room.lines, room.eliminated.data());
    }
  }

  Subdomain box;
  Implicit implicit;
  Field u, r, forcing;
};

/// Elimination and substitution along lines that other sub-domains begin and end.
template <class Method>
class PartialLines {
  using Eliminated = typename Method::Eliminated;

 public:
  /// Numbers of a line that go forward and backward.
  static constexpr Index forward_numbers =
      Method::reach * static_cast<Index>(sizeof(Eliminated)) / static_cast<Index>(sizeof(Lanes));
  static constexpr Index backward_numbers = Method::reach * 5;

  explicit PartialLines(const Subdomain& box) {
    for (std::size_t along = 0; along < 3; ++along) {
      const LineSet set(box, along);
      const Index batches = (set.outer_end() - set.outer_begin()) * set.batches();
      const Index room = batches * (set.points() + Method::reach);
      if (room > static_cast<Index>(memory_.size())) memory_.resize(static_cast<std::size_t>(room));
    }
  }

  /// `message` has `lines` values after each other for each number; it is replaced by that for the
  /// next sub-domain.
  void forward(Cell<Method>& cell, std::size_t along, LineRoom& room, double* message,
               Index lines) {
    const LineSet set(cell.box, along);
    each_batch(set, [&](const Lines& batch, Index number, Eliminated* e) {
      exchange_lanes(message + number, lines, forward_numbers, e[0], lane_count, take);
      Method::forward(along, cell.u, cell.r, batch, cell.implicit, room, e);
      exchange_lanes(message + number, lines, forward_numbers, e[set.points()], batch.count, give);
    });
  }

  void backward(Cell<Method>& cell, std::size_t along, LineRoom& room, double* message,
                Index lines) {
    const LineSet set(cell.box, along);
    each_batch(set, [&](const Lines& batch, Index number, Eliminated* e) {
      LaneVec5* x = room.x.data();
      exchange_lanes(message + number, lines, backward_numbers, x[set.points()], lane_count, take);
      Method::backward(along, cell.u, cell.r, batch, room, e);
      exchange_lanes(message + number, lines, backward_numbers, x[0], batch.count, give);
    });
  }

 private:
  template <class Visit>
  void each_batch(const LineSet& set, Visit&& visit) {
    Eliminated* e = memory_.data();
    Index number = 0;
    for (Index outer = set.outer_begin(); outer < set.outer_end(); ++outer) {
      for (Index batch = 0; batch < set.batches(); ++batch) {
        const Lines lines = set.batch(outer, batch);
        visit(lines, number, e);
        number += lines.count;
        e += set.points() + Method::reach;
      }
    }
  }

  static void take(double* message, double* lanes, Index) {
    std::memcpy(lanes, message, sizeof(Lanes));
  }
  static void give(double* message, double* lanes, Index count) {
    std::memcpy(message, lanes, static_cast<std::size_t>(count) * sizeof(double));
  }

  /// All numbers of a batch, which in memory is a sequence of lanes.
  template <class Values>
  static void exchange_lanes(double* message, Index lines, Index numbers, Values& values,
                             Index count, void (*move)(double*, double*, Index)) {
    auto* lanes = reinterpret_cast<double*>(&values);
    for (Index number = 0; number < numbers; ++number)
      move(message + number * lines, lanes + number * lane_count, count);
  }

  std::vector<Eliminated> memory_;
};

}  // namespace nhalf::npb::flow
