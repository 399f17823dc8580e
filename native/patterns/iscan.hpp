// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/overlapped.hpp"
#include "patterns/scan.hpp"

namespace nhalf {

inline constexpr PatternInfo iscan_info{
    .name = "iscan",
    .what = "scan started and waited for; overlap is the part that work hides",
    .needs = "non-blocking-collectives",
    .timing = Timing::operation,
    .axes = in_place_overlap_axes,
    .size_multiple = 4};

template <NonBlockingCollectives T>
class IScan : public Overlapped<T, Scan<T>> {
 public:
  IScan(T& transport, const Case& point) : Overlapped<T, Scan<T>>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->overlap(rounds, [this] { return this->transport_.iscan(this->in_, this->out_); });
  }
};

NHALF_PATTERN(iscan_info, IScan);

}  // namespace nhalf
