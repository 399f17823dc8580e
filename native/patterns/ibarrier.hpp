// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/barrier.hpp"
#include "patterns/bases/overlapped.hpp"

namespace nhalf {

inline constexpr PatternInfo ibarrier_info{
    .name = "ibarrier",
    .what = "barrier started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-collectives",
    .timing = Timing::operation,
    .axes = overlap_axes,
    .sized = false};

template <NonBlockingCollectives T>
class IBarrier : public Overlapped<T, Barrier<T>> {
 public:
  IBarrier(T& transport, const Case& point) : Overlapped<T, Barrier<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] { return this->transport_.isynchronise(); });
  }
};

NHALF_PATTERN(ibarrier_info, IBarrier);

}  // namespace nhalf
