// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/neighbor_allgather.hpp"

namespace nhalf {

inline constexpr PatternInfo ineighbor_allgather_info{
    .name = "ineighbor-allgather",
    .what = "neighbor-allgather started and waited for; overlap is the part that work hides",
    .needs = "neighbourhoods",
    .timing = Timing::operation,
    .axes = neighbour_overlap_axes};

template <Neighbourhoods T>
class INeighborAllgather : public Overlapped<T, NeighborAllgather<T>> {
 public:
  using Overlapped<T, NeighborAllgather<T>>::Overlapped;

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] {
      return this->transport_.ineighbor_allgather(this->among_, this->in_, this->out_);
    });
  }
};

NHALF_PATTERN(ineighbor_allgather_info, INeighborAllgather);

}  // namespace nhalf
