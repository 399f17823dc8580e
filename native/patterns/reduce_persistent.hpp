// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/prepared_operation.hpp"
#include "patterns/reduce.hpp"

namespace nhalf {

inline constexpr PatternInfo reduce_persistent_info{
    .name = "reduce-persistent",
    .what = "reduce that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes,
    .size_multiple = 4,
    .rooted = true};

template <PersistentCollectives T>
class ReducePersistent : public PreparedOperation<T, Reduce<T>> {
 public:
  using PreparedOperation<T, Reduce<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_reduce(this->root_, this->in_, this->out_);
  }
};

NHALF_PATTERN(reduce_persistent_info, ReducePersistent);

}  // namespace nhalf
