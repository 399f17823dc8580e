// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/alltoall.hpp"
#include "patterns/bases/counted.hpp"

namespace nhalf {

inline constexpr PatternInfo alltoallv_info{
    .name = "alltoallv",
    .what = "alltoall with counts and offsets, equal ones as in IMB; the size is that of a block",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_axes};

template <Collectives T>
class Alltoallv : public Counted<T, Alltoall<T>> {
 public:
  using Counted<T, Alltoall<T>>::Counted;

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds)
      this->transport_.alltoallv(this->in_, this->counts_, this->offsets_, this->out_,
                                 this->counts_, this->offsets_);
  }
};

NHALF_PATTERN(alltoallv_info, Alltoallv);

}  // namespace nhalf
