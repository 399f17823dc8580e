// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/prepared_operation.hpp"
#include "patterns/reduce_scatterv.hpp"

namespace nhalf {

inline constexpr PatternInfo reduce_scatterv_persistent_info{
    .name = "reduce-scatterv-persistent",
    .what = "reduce-scatterv that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes,
    .size_multiple = 4};

template <PersistentCollectives T>
class ReduceScattervPersistent : public PreparedOperation<T, ReduceScatterv<T>> {
 public:
  using PreparedOperation<T, ReduceScatterv<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_reduce_scatterv(this->in_, this->out_, this->counts_);
  }
};

NHALF_PATTERN(reduce_scatterv_persistent_info, ReduceScattervPersistent);

}  // namespace nhalf
