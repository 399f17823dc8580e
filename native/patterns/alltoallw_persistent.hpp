// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/alltoallw.hpp"
#include "patterns/bases/prepared_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo alltoallw_persistent_info{
    .name = "alltoallw-persistent",
    .what = "alltoallw that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes};

template <PersistentCollectives T>
class AlltoallwPersistent : public PreparedOperation<T, Alltoallw<T>> {
 public:
  using PreparedOperation<T, Alltoallw<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_alltoallw(this->in_, this->counts_, this->offsets_, this->out_,
                                              this->counts_, this->offsets_);
  }
};

NHALF_PATTERN(alltoallw_persistent_info, AlltoallwPersistent);

}  // namespace nhalf
