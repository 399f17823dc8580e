// A box of grid points with a halo of two points, and five quantities on it.
#pragma once

#include <array>
#include <vector>

#include "apps/npb/flow/lanes.hpp"

namespace nhalf::npb::flow {

inline constexpr Index halo = 2;

/// Position of a box in the cube of n^3 points, and the layout of its points in memory.
struct Subdomain {
  Subdomain(Index points, const std::array<Index, 3>& lowest, const std::array<Index, 3>& extent)
      : n(points), low(lowest), size(extent) {
    // Rows are whole cache lines; what a row computes first is at the begin of one.
    const Index lead = lane_count - first(0);
    stride[0] = 1;
    stride[1] = (lead + size[0] + halo + lane_count - 1) / lane_count * lane_count;
    stride[2] = stride[1] * (size[1] + 2 * halo);
    origin = lead + halo * stride[1] + halo * stride[2];
    // Eight rows are read at once, also where fewer are left.
    volume = stride[2] * (size[2] + 2 * halo) + lane_count * (stride[1] + 1);
    volume = (volume + lane_count - 1) / lane_count * lane_count;
  }

  /// The points that are computed, those on the cube's surface excluded: [first, last).
  [[nodiscard]] Index first(std::size_t d) const { return low[d] == 0 ? 1 : 0; }
  [[nodiscard]] Index last(std::size_t d) const {
    return low[d] + size[d] == n ? size[d] - 1 : size[d];
  }
  [[nodiscard]] Index at(Index i, Index j, Index k) const {
    return origin + i + j * stride[1] + k * stride[2];
  }
  [[nodiscard]] bool inside(Index i, Index j, Index k) const {
    const std::array<Index, 3> local{i, j, k};
    for (std::size_t d = 0; d < 3; ++d) {
      if (local[d] < first(d) || local[d] >= last(d)) return false;
    }
    return true;
  }

  Index n;
  std::array<Index, 3> low, size, stride{};
  Index origin{}, volume{};
};

/// Calls `visit(i, j, k)` for the points of a box that is `margin` points larger on all sides.
template <class Visit>
void for_each_point(const Subdomain& box, Index margin, Visit&& visit) {
  for (Index k = -margin; k < box.size[2] + margin; ++k) {
    for (Index j = -margin; j < box.size[1] + margin; ++j) {
      for (Index i = -margin; i < box.size[0] + margin; ++i) visit(i, j, k);
    }
  }
}

/// Five quantities on a sub-domain, one array after the other.
class Field {
 public:
  Field(const Subdomain& box, double value)
      : stride_(box.volume), memory_(static_cast<std::size_t>(5 * box.volume) + 8, value) {
    const auto address = reinterpret_cast<std::size_t>(memory_.data());
    aligned_ = memory_.data() + (64 - address % 64) % 64 / sizeof(double);
  }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;
  Field(Field&&) = default;
  Field& operator=(Field&&) = default;

  [[nodiscard]] double* operator[](Index m) { return aligned_ + m * stride_; }
  [[nodiscard]] const double* operator[](Index m) const { return aligned_ + m * stride_; }
  [[nodiscard]] Index stride() const { return stride_; }

 private:
  Index stride_;
  std::vector<double> memory_;
  double* aligned_;
};

}  // namespace nhalf::npb::flow
