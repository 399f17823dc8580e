// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/prepared_operation.hpp"
#include "patterns/gather.hpp"

namespace nhalf {

inline constexpr PatternInfo gather_persistent_info{
    .name = "gather-persistent",
    .what = "gather that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes,
    .rooted = true};

template <PersistentCollectives T>
class GatherPersistent : public PreparedOperation<T, Gather<T>> {
 public:
  using PreparedOperation<T, Gather<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_gather(this->root_, this->in_, this->out_);
  }
};

NHALF_PATTERN(gather_persistent_info, GatherPersistent);

}  // namespace nhalf
