// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/reduce.hpp"

namespace nhalf {

inline constexpr PatternInfo ireduce_info{
    .name = "ireduce",
    .what = "reduce started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes,
    .size_multiple = 4,
    .rooted = true};

template <NonBlockingCollectives T>
class IReduce : public Overlapped<T, Reduce<T>> {
 public:
  IReduce(T& transport, const Case& point) : Overlapped<T, Reduce<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds,
                  [this] { return this->transport_.ireduce(this->root_, this->in_, this->out_); });
  }
};

NHALF_PATTERN(ireduce_info, IReduce);

}  // namespace nhalf
