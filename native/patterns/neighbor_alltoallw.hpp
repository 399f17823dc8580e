// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/neighbour_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo neighbor_alltoallw_info{
    .name = "neighbor-alltoallw",
    .what =
        "neighbor-alltoallv with a type per neighbour besides, all of them bytes; the size is "
        "that of a block",
    .needs = "neighbourhoods",
    .timing = Timing::operation,
    .axes = neighbour_axes};

template <Neighbourhoods T>
class NeighborAlltoallw : public NeighbourAlltoall<T> {
 public:
  using NeighbourAlltoall<T>::NeighbourAlltoall;

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds)
      this->transport_.neighbor_alltoallw(this->among_, this->in_, this->counts_,
                                          this->wide_offsets_, this->out_, this->counts_,
                                          this->wide_offsets_);
  }
};

NHALF_PATTERN(neighbor_alltoallw_info, NeighborAlltoallw);

}  // namespace nhalf
