// Lines of points along one direction, eight at a time, out of a field and back into it.
#pragma once

#include <algorithm>
#include <vector>

#include "apps/npb/flow/subdomain.hpp"

namespace nhalf::npb::flow {

/// Up to eight lines that are neighbours: lane l of point p is at base + p point + l lane.
struct Lines {
  Index base, point, lane, count;
  Index first, last;  // the points that are computed
};

/// All lines of a sub-domain along one direction: `outer` planes of `inner` lines.
struct LineSet {
  LineSet(const Subdomain& box, std::size_t along)
      : box_(box), along_(along), inner_(along == 0 ? 1 : 0), outer_(along == 2 ? 1 : 2) {}

  [[nodiscard]] Index outer_begin() const { return box_.first(outer_); }
  [[nodiscard]] Index outer_end() const { return box_.last(outer_); }
  [[nodiscard]] Index inner_begin() const { return box_.first(inner_); }
  [[nodiscard]] Index inner_end() const { return box_.last(inner_); }
  [[nodiscard]] Index points() const { return box_.last(along_) - box_.first(along_); }
  [[nodiscard]] Index lines() const {
    return (outer_end() - outer_begin()) * (inner_end() - inner_begin());
  }
  [[nodiscard]] Index batches() const {
    return (inner_end() - inner_begin() + lane_count - 1) / lane_count;
  }
  [[nodiscard]] Lines batch(Index outer, Index number) const {
    const Index inner = inner_begin() + number * lane_count;
    return {.base = box_.origin + outer * box_.stride[outer_] + inner * box_.stride[inner_],
            .point = box_.stride[along_],
            .lane = box_.stride[inner_],
            .count = std::min(lane_count, inner_end() - inner),
            .first = box_.first(along_),
            .last = box_.last(along_)};
  }

 private:
  Subdomain box_;
  std::size_t along_, inner_, outer_;
};

/// Room for a batch of lines and for what lies around them, made once.
struct LineRoom {
  explicit LineRoom(Index n)
      : u(static_cast<std::size_t>(n + 2)), x(static_cast<std::size_t>(n + 2)) {}
  std::vector<LaneVec5> u, x;
};

/// Points [from, to) of all five quantities. Lanes beyond the count hold other points' values.
NHALF_INLINE void read_lines(const Field& field, const Lines& lines, Index from, Index to,
                             LaneVec5* out) {
  for (Index m = 0; m < 5; ++m) {
    const double* start = field[m] + lines.base;
    if (lines.lane == 1) {
      for (Index p = from; p < to; ++p) out[p - from].v[m] = load(start + p * lines.point);
      continue;
    }
    for (Index p = from; p < to; p += lane_count) {
      Lanes tile[8];
      for (Index l = 0; l < 8; ++l) tile[l] = load(start + p + l * lines.lane);
      transpose(tile);
      for (Index q = 0; q < std::min(lane_count, to - p); ++q) out[p - from + q].v[m] = tile[q];
    }
  }
}

/// Writes the points that are computed.
NHALF_INLINE void write_lines(Field& field, const Lines& lines, const LaneVec5* values) {
  const Index points = lines.last - lines.first;
  for (Index m = 0; m < 5; ++m) {
    double* start = field[m] + lines.base + lines.first * lines.point;
    if (lines.lane == 1) {
      for (Index p = 0; p < points; ++p)
        store(start + p * lines.point, values[p].v[m], lines.count);
      continue;
    }
    for (Index p = 0; p < points; p += lane_count) {
      Lanes tile[8];
      const Index count = std::min(lane_count, points - p);
      for (Index q = 0; q < 8; ++q) tile[q] = values[p + std::min(q, count - 1)].v[m];
      transpose(tile);
      for (Index l = 0; l < lines.count; ++l) store(start + p + l * lines.lane, tile[l], count);
    }
  }
}

}  // namespace nhalf::npb::flow
