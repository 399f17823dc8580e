// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/gatherv.hpp"

namespace nhalf {

inline constexpr PatternInfo igatherv_info{
    .name = "igatherv",
    .what = "gatherv started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes,
    .rooted = true};

template <NonBlockingVaryingCollectives T>
class IGatherv : public Overlapped<T, Gatherv<T>> {
 public:
  IGatherv(T& transport, const Case& point) : Overlapped<T, Gatherv<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] {
      return this->transport_.igatherv(this->root_, this->in_, this->out_, this->counts_,
                                       this->offsets_);
    });
  }
};

NHALF_PATTERN(igatherv_info, IGatherv);

}  // namespace nhalf
