// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/allreduce.hpp"
#include "patterns/bases/overlapped.hpp"

namespace nhalf {

inline constexpr PatternInfo iallreduce_info{
    .name = "iallreduce",
    .what = "allreduce started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes,
    .size_multiple = 4};

template <NonBlockingCollectives T>
class IAllreduce : public Overlapped<T, Allreduce<T>> {
 public:
  IAllreduce(T& transport, const Case& point) : Overlapped<T, Allreduce<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] { return this->transport_.iallreduce(this->in_, this->out_); });
  }
};

NHALF_PATTERN(iallreduce_info, IAllreduce);

}  // namespace nhalf
