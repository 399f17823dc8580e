#pragma once

#include <vector>

#include "contract/varying.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/collectives/reduce_scatter.hpp"

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

/// reduce-scatter, told how many floats each rank gets: the same for all.
template <VaryingCollectives T>
class CountedReduceScatter : public ReduceScatter<T> {
 public:
  CountedReduceScatter(T& transport, const Case& point)
      : ReduceScatter<T>(transport, point),
        counts_(static_cast<std::size_t>(transport.size()),
                static_cast<int>(this->out_.size() / sizeof(float))) {}

 protected:
  [[nodiscard]] Operands operands() const {
    return {.root = 0, .in = this->in_, .out = this->out_, .counts = counts_, .offsets = {}};
  }

 private:
  std::vector<int> counts_;
};

template <VaryingCollectives T>
using ReduceScatterv = Called<CountedReduceScatter<T>, operations::reduce_scatterv>;

NHALF_PATTERN(reduce_scatterv_info, ReduceScatterv);
NHALF_FORMS(reduce_scatterv_info, ReduceScatterv, reduce_scatterv);

}  // namespace nhalf
