// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/neighbour_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo neighbor_allgather_info{
    .name = "neighbor-allgather",
    .what = "every rank gives its neighbours a block, the same to all; the size is that of a block",
    .needs = "neighbourhoods",
    .timing = Timing::operation,
    .axes = neighbour_axes};

template <Neighbourhoods T>
class NeighborAllgather : public NeighbourAllgather<T> {
 public:
  using NeighbourAllgather<T>::NeighbourAllgather;

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds)
      this->transport_.neighbor_allgather(this->among_, this->in_, this->out_);
  }
};

NHALF_PATTERN(neighbor_allgather_info, NeighborAllgather);

}  // namespace nhalf
