// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/scatterv.hpp"

namespace nhalf {

inline constexpr PatternInfo iscatterv_info{
    .name = "iscatterv",
    .what = "scatterv started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes,
    .rooted = true};

template <NonBlockingVaryingCollectives T>
class IScatterv : public Overlapped<T, Scatterv<T>> {
 public:
  IScatterv(T& transport, const Case& point) : Overlapped<T, Scatterv<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] {
      return this->transport_.iscatterv(this->root_, this->in_, this->counts_, this->offsets_,
                                        this->out_);
    });
  }
};

NHALF_PATTERN(iscatterv_info, IScatterv);

}  // namespace nhalf
