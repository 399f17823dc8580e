// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/bcast.hpp"

namespace nhalf {

inline constexpr PatternInfo ibcast_info{
    .name = "ibcast",
    .what = "bcast started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-collectives",
    .timing = Timing::operation,
    .axes = overlap_axes,
    .rooted = true};

template <NonBlockingCollectives T>
class IBcast : public Overlapped<T, Bcast<T>> {
 public:
  IBcast(T& transport, const Case& point) : Overlapped<T, Bcast<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] { return this->transport_.ibcast(this->root_, this->out_); });
  }
};

NHALF_PATTERN(ibcast_info, IBcast);

}  // namespace nhalf
