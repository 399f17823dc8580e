// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/allgatherv.hpp"
#include "patterns/bases/prepared_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo allgatherv_persistent_info{
    .name = "allgatherv-persistent",
    .what = "allgatherv that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes};

template <PersistentCollectives T>
class AllgathervPersistent : public PreparedOperation<T, Allgatherv<T>> {
 public:
  using PreparedOperation<T, Allgatherv<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_allgatherv(this->in_, this->out_, this->counts_,
                                               this->offsets_);
  }
};

NHALF_PATTERN(allgatherv_persistent_info, AllgathervPersistent);

}  // namespace nhalf
