// Multipartition: q^2 ranks have q cells each, one in every slice of the cube in every direction,
// so that all ranks work whenever lines are solved slice after slice.
#pragma once

#include <array>

#include "apps/npb/flow/subdomain.hpp"

namespace nhalf::npb::flow {

class Multipartition {
 public:
  Multipartition(Index n, Index rank, Index ranks) : n_(n) {
    while ((q_ + 1) * (q_ + 1) <= ranks) ++q_;
    x_ = rank % q_;
    y_ = rank / q_;
  }

  [[nodiscard]] Index cells() const { return q_; }

  /// Position of a cell among the q^3 cells of the cube.
  [[nodiscard]] std::array<Index, 3> place(Index cell) const {
    return {(x_ + cell) % q_, (y_ - cell + q_) % q_, cell};
  }

  [[nodiscard]] Subdomain box(Index cell) const {
    std::array<Index, 3> low{};
    std::array<Index, 3> size{};
    const auto where = place(cell);
    for (std::size_t d = 0; d < 3; ++d) {
      low[d] = where[d] * (n_ / q_) + std::min(where[d], n_ % q_);
      size[d] = n_ / q_ + (where[d] < n_ % q_ ? 1 : 0);
    }
    return {n_, low, size};
  }

  /// Returns which of a rank's cells is in a slice across direction `d`.
  [[nodiscard]] Index in_slice(std::size_t d, Index slice) const {
    Index cell = 0;
    while (place(cell)[d] != slice) ++cell;
    return cell;
  }

  /// The rank whose cells follow those of this one in direction `d`, or go before them.
  [[nodiscard]] int neighbour(std::size_t d, bool up) const {
    const Index step = up ? 1 : q_ - 1;
    Index x = x_;
    Index y = y_;
    if (d == 0) x += step;
    if (d == 1) y += step;
    if (d == 2) {
      x += q_ - step;
      y += step;
    }
    return static_cast<int>(x % q_ + q_ * (y % q_));
  }

 private:
  Index n_, q_ = 1, x_ = 0, y_ = 0;
};

}  // namespace nhalf::npb::flow
