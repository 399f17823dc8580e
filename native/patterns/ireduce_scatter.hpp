// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/reduce_scatter.hpp"

namespace nhalf {

inline constexpr PatternInfo ireduce_scatter_info{
    .name = "ireduce-scatter",
    .what = "reduce-scatter started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes,
    .size_multiple = 4};

template <NonBlockingCollectives T>
class IReduceScatter : public Overlapped<T, ReduceScatter<T>> {
 public:
  IReduceScatter(T& transport, const Case& point)
      : Overlapped<T, ReduceScatter<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds,
                  [this] { return this->transport_.ireduce_scatter(this->in_, this->out_); });
  }
};

NHALF_PATTERN(ireduce_scatter_info, IReduceScatter);

}  // namespace nhalf
