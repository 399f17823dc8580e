// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/alltoall.hpp"
#include "patterns/bases/overlapped.hpp"

namespace nhalf {

inline constexpr PatternInfo ialltoall_info{
    .name = "ialltoall",
    .what = "alltoall started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes};

template <NonBlockingCollectives T>
class IAlltoall : public Overlapped<T, Alltoall<T>> {
 public:
  IAlltoall(T& transport, const Case& point) : Overlapped<T, Alltoall<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] { return this->transport_.ialltoall(this->in_, this->out_); });
  }
};

NHALF_PATTERN(ialltoall_info, IAlltoall);

}  // namespace nhalf
