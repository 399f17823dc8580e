// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/neighbour_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo neighbor_alltoallv_info{
    .name = "neighbor-alltoallv",
    .what = "neighbor-alltoall with counts and offsets, equal ones; the size is that of a block",
    .needs = "neighbourhoods",
    .timing = Timing::operation,
    .axes = neighbour_axes};

template <Neighbourhoods T>
class NeighborAlltoallv : public NeighbourAlltoall<T> {
 public:
  using NeighbourAlltoall<T>::NeighbourAlltoall;

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds)
      this->transport_.neighbor_alltoallv(this->among_, this->in_, this->counts_, this->offsets_,
                                          this->out_, this->counts_, this->offsets_);
  }
};

NHALF_PATTERN(neighbor_alltoallv_info, NeighborAlltoallv);

}  // namespace nhalf
