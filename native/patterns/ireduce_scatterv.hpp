// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/reduce_scatterv.hpp"

namespace nhalf {

inline constexpr PatternInfo ireduce_scatterv_info{
    .name = "ireduce-scatterv",
    .what = "reduce-scatterv started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes,
    .size_multiple = 4};

template <NonBlockingVaryingCollectives T>
class IReduceScatterv : public Overlapped<T, ReduceScatterv<T>> {
 public:
  IReduceScatterv(T& transport, const Case& point)
      : Overlapped<T, ReduceScatterv<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] {
      return this->transport_.ireduce_scatterv(this->in_, this->out_, this->counts_);
    });
  }
};

NHALF_PATTERN(ireduce_scatterv_info, IReduceScatterv);

}  // namespace nhalf
