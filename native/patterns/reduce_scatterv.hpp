// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "contract/varying.hpp"
#include "patterns/reduce_scatter.hpp"

namespace nhalf {

inline constexpr PatternInfo reduce_scatterv_info{
    .name = "reduce-scatterv",
    .what =
        "reduce-scatter with counts (MPI_Reduce_scatter), equal ones as in the suites; the size is "
        "that of a vector, rounded up to one float per rank",
    .needs = "varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_axes,
    .size_multiple = 4};

template <VaryingCollectives T>
class ReduceScatterv : public ReduceScatter<T> {
 public:
  ReduceScatterv(T& transport, const Case& point)
      : ReduceScatter<T>(transport, point),
        counts_(static_cast<std::size_t>(transport.size()),
                static_cast<int>(this->out_.size() / sizeof(float))) {}

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) this->transport_.reduce_scatterv(this->in_, this->out_, counts_);
  }

 protected:
  /// In floats.
  std::vector<int> counts_;
};

NHALF_PATTERN(reduce_scatterv_info, ReduceScatterv);

}  // namespace nhalf
