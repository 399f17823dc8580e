// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/prepared_operation.hpp"
#include "patterns/scatterv.hpp"

namespace nhalf {

inline constexpr PatternInfo scatterv_persistent_info{
    .name = "scatterv-persistent",
    .what = "scatterv that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes,
    .rooted = true};

template <PersistentCollectives T>
class ScattervPersistent : public PreparedOperation<T, Scatterv<T>> {
 public:
  using PreparedOperation<T, Scatterv<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_scatterv(this->root_, this->in_, this->counts_, this->offsets_,
                                             this->out_);
  }
};

NHALF_PATTERN(scatterv_persistent_info, ScattervPersistent);

}  // namespace nhalf
