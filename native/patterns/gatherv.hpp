// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contract/varying.hpp"
#include "patterns/bases/counted.hpp"
#include "patterns/gather.hpp"

namespace nhalf {

inline constexpr PatternInfo gatherv_info{
    .name = "gatherv",
    .what =
        "gather with counts and offsets, equal ones as in the suites; the size is that of a "
        "block",
    .needs = "varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_axes,
    .rooted = true};

template <VaryingCollectives T>
class Gatherv : public Counted<T, Gather<T>> {
 public:
  using Counted<T, Gather<T>>::Counted;

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds)
      this->transport_.gatherv(this->root_, this->in_, this->out_, this->counts_, this->offsets_);
  }
};

NHALF_PATTERN(gatherv_info, Gatherv);

}  // namespace nhalf
