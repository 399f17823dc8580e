// LU: a plane of a sub-domain, rows in batches, and what its sweeps leave for each other.
#pragma once

#include <vector>

#include "apps/npb/lu/numerics.hpp"

namespace nhalf::npb::lu {

/// Products on the edges of a plane: of points before the first and behind the last.
class PlaneEdges {
 public:
  explicit PlaneEdges(const Subdomain& box)
      : x_stride_((box.size[1] / lane_count + 1) * lane_count),
        y_stride_(box.size[0] + 2 * lane_count),
        x_(static_cast<std::size_t>(5 * x_stride_), 0.0),
        y_(static_cast<std::size_t>(5 * y_stride_), 0.0) {}

  /// From row (counted from the first that is computed) on.
  [[nodiscard]] Edge x(Index row) { return {x_.data() + row, x_stride_}; }
  [[nodiscard]] Edge y() { return {y_.data() + lane_count, y_stride_}; }
  [[nodiscard]] std::vector<double>& all_y() { return y_; }
  void clear_x() { std::fill(x_.begin(), x_.end(), 0.0); }
  void clear_y() { std::fill(y_.begin(), y_.end(), 0.0); }

 private:
  Index x_stride_, y_stride_;
  std::vector<double> x_, y_;
};

class Wavefront {
 public:
  explicit Wavefront(const Subdomain& box)
      : box_(box),
        batches_((box.last(1) - box.first(1) + lane_count - 1) / lane_count),
        steps_(box.size[0] + lane_count),
        plane_(static_cast<std::size_t>(batches_ * steps_)),
        swept_(static_cast<std::size_t>(batches_ * steps_ * box.size[2])) {}

  [[nodiscard]] Index batches() const { return batches_; }

  /// Before the first plane of a sweep: no products come from before it.
  void start(Index batch) { std::fill_n(plane_.data() + batch * steps_, steps_, LaneVec5{}); }

  /// Plane k, rows of a batch; `edges` hold the products of the points before.
  [[nodiscard]] Rows rows(Index k, Index batch, PlaneEdges& edges) {
    const Index row = batch * lane_count;
    const Lines lines{.base = box_.at(box_.first(0), box_.first(1) + row, k),
                      .point = 1,
                      .lane = box_.stride[1] - 1,
                      .count = std::min(lane_count, box_.last(1) - box_.first(1) - row),
                      .first = 0,
                      .last = 0};
    return {.lines = lines,
            .points = box_.last(0) - box_.first(0),
            .plane = plane_.data() + batch * steps_,
            .swept = swept_.data() + (k * batches_ + batch) * steps_,
            .x = edges.x(row),
            .y = edges.y()};
  }

 private:
  Subdomain box_;
  Index batches_, steps_;
  std::vector<LaneVec5> plane_, swept_;
};

}  // namespace nhalf::npb::lu
