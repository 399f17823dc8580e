// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/neighbour_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo neighbor_allgatherv_info{
    .name = "neighbor-allgatherv",
    .what = "neighbor-allgather with counts and offsets, equal ones; the size is that of a block",
    .needs = "neighbourhoods",
    .timing = Timing::operation,
    .axes = neighbour_axes};

template <Neighbourhoods T>
class NeighborAllgatherv : public NeighbourAllgather<T> {
 public:
  using NeighbourAllgather<T>::NeighbourAllgather;

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds)
      this->transport_.neighbor_allgatherv(this->among_, this->in_, this->out_, this->counts_,
                                           this->offsets_);
  }
};

NHALF_PATTERN(neighbor_allgatherv_info, NeighborAllgatherv);

}  // namespace nhalf
