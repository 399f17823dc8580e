// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/gather.hpp"

namespace nhalf {

inline constexpr PatternInfo igather_info{
    .name = "igather",
    .what = "gather started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes,
    .rooted = true};

template <NonBlockingCollectives T>
class IGather : public Overlapped<T, Gather<T>> {
 public:
  IGather(T& transport, const Case& point) : Overlapped<T, Gather<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds,
                  [this] { return this->transport_.igather(this->root_, this->in_, this->out_); });
  }
};

NHALF_PATTERN(igather_info, IGather);

}  // namespace nhalf
