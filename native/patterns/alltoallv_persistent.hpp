// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/alltoallv.hpp"
#include "patterns/bases/prepared_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo alltoallv_persistent_info{
    .name = "alltoallv-persistent",
    .what = "alltoallv that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes};

template <PersistentCollectives T>
class AlltoallvPersistent : public PreparedOperation<T, Alltoallv<T>> {
 public:
  using PreparedOperation<T, Alltoallv<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_alltoallv(this->in_, this->counts_, this->offsets_, this->out_,
                                              this->counts_, this->offsets_);
  }
};

NHALF_PATTERN(alltoallv_persistent_info, AlltoallvPersistent);

}  // namespace nhalf
