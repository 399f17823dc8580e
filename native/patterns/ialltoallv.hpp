// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/alltoallv.hpp"
#include "patterns/bases/overlapped.hpp"

namespace nhalf {

inline constexpr PatternInfo ialltoallv_info{
    .name = "ialltoallv",
    .what = "alltoallv started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes};

template <NonBlockingCollectives T>
class IAlltoallv : public Overlapped<T, Alltoallv<T>> {
 public:
  IAlltoallv(T& transport, const Case& point) : Overlapped<T, Alltoallv<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] {
      return this->transport_.ialltoallv(this->in_, this->counts_, this->offsets_, this->out_,
                                         this->counts_, this->offsets_);
    });
  }
};

NHALF_PATTERN(ialltoallv_info, IAlltoallv);

}  // namespace nhalf
