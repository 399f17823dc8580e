// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/neighbor_alltoallw.hpp"

namespace nhalf {

inline constexpr PatternInfo ineighbor_alltoallw_info{
    .name = "ineighbor-alltoallw",
    .what = "neighbor-alltoallw started and waited for; overlap is the part that work hides",
    .needs = "neighbourhoods",
    .timing = Timing::operation,
    .axes = neighbour_overlap_axes};

template <Neighbourhoods T>
class INeighborAlltoallw : public Overlapped<T, NeighborAlltoallw<T>> {
 public:
  using Overlapped<T, NeighborAlltoallw<T>>::Overlapped;

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] {
      return this->transport_.ineighbor_alltoallw(this->among_, this->in_, this->counts_,
                                                  this->wide_offsets_, this->out_, this->counts_,
                                                  this->wide_offsets_);
    });
  }
};

NHALF_PATTERN(ineighbor_alltoallw_info, INeighborAlltoallw);

}  // namespace nhalf
