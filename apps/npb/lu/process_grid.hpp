// LU: ranks as a grid over x and y, as square as their number allows, the longer side along x.
#pragma once

#include <array>

#include "apps/npb/flow/subdomain.hpp"

namespace nhalf::npb::lu {

class ProcessGrid {
 public:
  using Index = flow::Index;

  ProcessGrid(Index rank, Index ranks) {
    for (Index y = 1; y * y <= ranks; ++y) {
      if (ranks % y == 0) size_ = {ranks / y, y};
    }
    place_ = {rank % size_[0], rank / size_[0]};
  }

  [[nodiscard]] flow::Subdomain box(Index n) const {
    std::array<Index, 3> low{0, 0, 0};
    std::array<Index, 3> extent{n, n, n};
    for (std::size_t d = 0; d < 2; ++d) {
      low[d] = place_[d] * (n / size_[d]) + std::min(place_[d], n % size_[d]);
      extent[d] = n / size_[d] + (place_[d] < n % size_[d] ? 1 : 0);
    }
    return {n, low, extent};
  }

  /// Whether there is a rank above or below this one in a direction, and which.
  [[nodiscard]] bool continues(std::size_t d, bool above) const {
    return above ? place_[d] + 1 < size_[d] : place_[d] > 0;
  }
  [[nodiscard]] int neighbour(std::size_t d, bool above) const {
    const Index stride = d == 0 ? 1 : size_[0];
    const Index rank = place_[0] + place_[1] * size_[0];
    return static_cast<int>(above ? rank + stride : rank - stride);
  }

 private:
  std::array<Index, 2> size_{1, 1}, place_{0, 0};
};

}  // namespace nhalf::npb::lu
