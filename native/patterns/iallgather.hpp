// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/allgather.hpp"
#include "patterns/bases/overlapped.hpp"

namespace nhalf {

inline constexpr PatternInfo iallgather_info{
    .name = "iallgather",
    .what = "allgather started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes};

template <NonBlockingCollectives T>
class IAllgather : public Overlapped<T, Allgather<T>> {
 public:
  IAllgather(T& transport, const Case& point) : Overlapped<T, Allgather<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] { return this->transport_.iallgather(this->in_, this->out_); });
  }
};

NHALF_PATTERN(iallgather_info, IAllgather);

}  // namespace nhalf
