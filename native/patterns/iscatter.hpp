// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/scatter.hpp"

namespace nhalf {

inline constexpr PatternInfo iscatter_info{
    .name = "iscatter",
    .what = "scatter started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes,
    .rooted = true};

template <NonBlockingCollectives T>
class IScatter : public Overlapped<T, Scatter<T>> {
 public:
  IScatter(T& transport, const Case& point) : Overlapped<T, Scatter<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds,
                  [this] { return this->transport_.iscatter(this->root_, this->in_, this->out_); });
  }
};

NHALF_PATTERN(iscatter_info, IScatter);

}  // namespace nhalf
