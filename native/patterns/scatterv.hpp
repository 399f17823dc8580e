// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contract/varying.hpp"
#include "patterns/bases/counted.hpp"
#include "patterns/scatter.hpp"

namespace nhalf {

inline constexpr PatternInfo scatterv_info{
    .name = "scatterv",
    .what =
        "scatter with counts and offsets, equal ones as in the suites; the size is that of a "
        "block",
    .needs = "varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_axes,
    .rooted = true};

template <VaryingCollectives T>
class Scatterv : public Counted<T, Scatter<T>> {
 public:
  using Counted<T, Scatter<T>>::Counted;

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds)
      this->transport_.scatterv(this->root_, this->in_, this->counts_, this->offsets_, this->out_);
  }
};

NHALF_PATTERN(scatterv_info, Scatterv);

}  // namespace nhalf
