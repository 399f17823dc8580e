// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/allgatherv.hpp"
#include "patterns/bases/overlapped.hpp"

namespace nhalf {

inline constexpr PatternInfo iallgatherv_info{
    .name = "iallgatherv",
    .what = "allgatherv started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes};

template <NonBlockingVaryingCollectives T>
class IAllgatherv : public Overlapped<T, Allgatherv<T>> {
 public:
  IAllgatherv(T& transport, const Case& point) : Overlapped<T, Allgatherv<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] {
      return this->transport_.iallgatherv(this->in_, this->out_, this->counts_, this->offsets_);
    });
  }
};

NHALF_PATTERN(iallgatherv_info, IAllgatherv);

}  // namespace nhalf
