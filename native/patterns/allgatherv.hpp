// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contract/varying.hpp"
#include "patterns/allgather.hpp"
#include "patterns/bases/counted.hpp"

namespace nhalf {

inline constexpr PatternInfo allgatherv_info{
    .name = "allgatherv",
    .what =
        "allgather with counts and offsets, equal ones as in the suites; the size is that of a "
        "block",
    .needs = "varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_axes};

template <VaryingCollectives T>
class Allgatherv : public Counted<T, Allgather<T>> {
 public:
  using Counted<T, Allgather<T>>::Counted;

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds)
      this->transport_.allgatherv(this->in_, this->out_, this->counts_, this->offsets_);
  }
};

NHALF_PATTERN(allgatherv_info, Allgatherv);

}  // namespace nhalf
