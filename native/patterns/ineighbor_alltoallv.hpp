// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/neighbor_alltoallv.hpp"

namespace nhalf {

inline constexpr PatternInfo ineighbor_alltoallv_info{
    .name = "ineighbor-alltoallv",
    .what = "neighbor-alltoallv started and waited for; overlap is the part that work hides",
    .needs = "neighbourhoods",
    .timing = Timing::operation,
    .axes = neighbour_overlap_axes};

template <Neighbourhoods T>
class INeighborAlltoallv : public Overlapped<T, NeighborAlltoallv<T>> {
 public:
  using Overlapped<T, NeighborAlltoallv<T>>::Overlapped;

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] {
      return this->transport_.ineighbor_alltoallv(this->among_, this->in_, this->counts_,
                                                  this->offsets_, this->out_, this->counts_,
                                                  this->offsets_);
    });
  }
};

NHALF_PATTERN(ineighbor_alltoallv_info, INeighborAlltoallv);

}  // namespace nhalf
