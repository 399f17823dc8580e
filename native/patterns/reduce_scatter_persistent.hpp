// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/prepared_operation.hpp"
#include "patterns/reduce_scatter.hpp"

namespace nhalf {

inline constexpr PatternInfo reduce_scatter_persistent_info{
    .name = "reduce-scatter-persistent",
    .what = "reduce-scatter that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes,
    .size_multiple = 4};

template <PersistentCollectives T>
class ReduceScatterPersistent : public PreparedOperation<T, ReduceScatter<T>> {
 public:
  using PreparedOperation<T, ReduceScatter<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_reduce_scatter(this->in_, this->out_);
  }
};

NHALF_PATTERN(reduce_scatter_persistent_info, ReduceScatterPersistent);

}  // namespace nhalf
