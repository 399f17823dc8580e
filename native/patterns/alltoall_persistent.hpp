// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/alltoall.hpp"
#include "patterns/bases/prepared_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo alltoall_persistent_info{
    .name = "alltoall-persistent",
    .what = "alltoall that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes};

template <PersistentCollectives T>
class AlltoallPersistent : public PreparedOperation<T, Alltoall<T>> {
 public:
  using PreparedOperation<T, Alltoall<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_alltoall(this->in_, this->out_);
  }
};

NHALF_PATTERN(alltoall_persistent_info, AlltoallPersistent);

}  // namespace nhalf
