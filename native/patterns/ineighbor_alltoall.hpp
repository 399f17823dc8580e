// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/neighbor_alltoall.hpp"

namespace nhalf {

inline constexpr PatternInfo ineighbor_alltoall_info{
    .name = "ineighbor-alltoall",
    .what = "neighbor-alltoall started and waited for; overlap is the part that work hides",
    .needs = "neighbourhoods",
    .timing = Timing::operation,
    .axes = neighbour_overlap_axes};

template <Neighbourhoods T>
class INeighborAlltoall : public Overlapped<T, NeighborAlltoall<T>> {
 public:
  using Overlapped<T, NeighborAlltoall<T>>::Overlapped;

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] {
      return this->transport_.ineighbor_alltoall(this->among_, this->in_, this->out_);
    });
  }
};

NHALF_PATTERN(ineighbor_alltoall_info, INeighborAlltoall);

}  // namespace nhalf
