// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/neighbor_allgatherv.hpp"

namespace nhalf {

inline constexpr PatternInfo ineighbor_allgatherv_info{
    .name = "ineighbor-allgatherv",
    .what = "neighbor-allgatherv started and waited for; overlap is the part that work hides",
    .needs = "neighbourhoods",
    .timing = Timing::operation,
    .axes = neighbour_overlap_axes};

template <Neighbourhoods T>
class INeighborAllgatherv : public Overlapped<T, NeighborAllgatherv<T>> {
 public:
  using Overlapped<T, NeighborAllgatherv<T>>::Overlapped;

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] {
      return this->transport_.ineighbor_allgatherv(this->among_, this->in_, this->out_,
                                                   this->counts_, this->offsets_);
    });
  }
};

NHALF_PATTERN(ineighbor_allgatherv_info, INeighborAllgatherv);

}  // namespace nhalf
