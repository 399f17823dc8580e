// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/allgather.hpp"
#include "patterns/bases/prepared_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo allgather_persistent_info{
    .name = "allgather-persistent",
    .what = "allgather that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes};

template <PersistentCollectives T>
class AllgatherPersistent : public PreparedOperation<T, Allgather<T>> {
 public:
  using PreparedOperation<T, Allgather<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_allgather(this->in_, this->out_);
  }
};

NHALF_PATTERN(allgather_persistent_info, AllgatherPersistent);

}  // namespace nhalf
