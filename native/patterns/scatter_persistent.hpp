// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/prepared_operation.hpp"
#include "patterns/scatter.hpp"

namespace nhalf {

inline constexpr PatternInfo scatter_persistent_info{
    .name = "scatter-persistent",
    .what = "scatter that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes,
    .rooted = true};

template <PersistentCollectives T>
class ScatterPersistent : public PreparedOperation<T, Scatter<T>> {
 public:
  using PreparedOperation<T, Scatter<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_scatter(this->root_, this->in_, this->out_);
  }
};

NHALF_PATTERN(scatter_persistent_info, ScatterPersistent);

}  // namespace nhalf
