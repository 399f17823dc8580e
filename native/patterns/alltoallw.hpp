// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contract/varying.hpp"
#include "patterns/alltoall.hpp"
#include "patterns/bases/counted.hpp"

namespace nhalf {

inline constexpr PatternInfo alltoallw_info{
    .name = "alltoallw",
    .what =
        "alltoallv with a type per rank besides, all of them bytes; the size is that of a block",
    .needs = "varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_axes};

template <VaryingCollectives T>
class Alltoallw : public Counted<T, Alltoall<T>> {
 public:
  using Counted<T, Alltoall<T>>::Counted;

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds)
      this->transport_.alltoallw(this->in_, this->counts_, this->offsets_, this->out_,
                                 this->counts_, this->offsets_);
  }
};

NHALF_PATTERN(alltoallw_info, Alltoallw);

}  // namespace nhalf
