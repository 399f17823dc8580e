// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/allreduce.hpp"
#include "patterns/bases/prepared_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo allreduce_persistent_info{
    .name = "allreduce-persistent",
    .what = "allreduce that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes,
    .size_multiple = 4};

template <PersistentCollectives T>
class AllreducePersistent : public PreparedOperation<T, Allreduce<T>> {
 public:
  using PreparedOperation<T, Allreduce<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_allreduce(this->in_, this->out_);
  }
};

NHALF_PATTERN(allreduce_persistent_info, AllreducePersistent);

}  // namespace nhalf
