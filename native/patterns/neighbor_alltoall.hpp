// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/neighbour_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo neighbor_alltoall_info{
    .name = "neighbor-alltoall",
    .what = "every rank gives each neighbour a block of its own; the size is that of a block",
    .needs = "neighbourhoods",
    .timing = Timing::operation,
    .axes = neighbour_axes};

template <Neighbourhoods T>
class NeighborAlltoall : public NeighbourAlltoall<T> {
 public:
  using NeighbourAlltoall<T>::NeighbourAlltoall;

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds)
      this->transport_.neighbor_alltoall(this->among_, this->in_, this->out_);
  }
};

NHALF_PATTERN(neighbor_alltoall_info, NeighborAlltoall);

}  // namespace nhalf
