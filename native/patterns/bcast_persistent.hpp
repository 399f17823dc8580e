// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/prepared_operation.hpp"
#include "patterns/bcast.hpp"

namespace nhalf {

inline constexpr PatternInfo bcast_persistent_info{
    .name = "bcast-persistent",
    .what = "bcast that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = persistent_axes,
    .rooted = true};

template <PersistentCollectives T>
class BcastPersistent : public PreparedOperation<T, Bcast<T>> {
 public:
  using PreparedOperation<T, Bcast<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_bcast(this->root_, this->out_);
  }
};

NHALF_PATTERN(bcast_persistent_info, BcastPersistent);

}  // namespace nhalf
