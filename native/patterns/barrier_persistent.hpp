// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/barrier.hpp"
#include "patterns/bases/prepared_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo barrier_persistent_info{
    .name = "barrier-persistent",
    .what = "barrier that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = persistent_axes,
    .sized = false};

template <PersistentCollectives T>
class BarrierPersistent : public PreparedOperation<T, Barrier<T>> {
 public:
  using PreparedOperation<T, Barrier<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_synchronise();
  }
};

NHALF_PATTERN(barrier_persistent_info, BarrierPersistent);

}  // namespace nhalf
