// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/alltoallw.hpp"
#include "patterns/bases/overlapped.hpp"

namespace nhalf {

inline constexpr PatternInfo ialltoallw_info{
    .name = "ialltoallw",
    .what = "alltoallw started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes};

template <NonBlockingVaryingCollectives T>
class IAlltoallw : public Overlapped<T, Alltoallw<T>> {
 public:
  IAlltoallw(T& transport, const Case& point) : Overlapped<T, Alltoallw<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] {
      return this->transport_.ialltoallw(this->in_, this->counts_, this->offsets_, this->out_,
                                         this->counts_, this->offsets_);
    });
  }
};

NHALF_PATTERN(ialltoallw_info, IAlltoallw);

}  // namespace nhalf
