// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/prepared_operation.hpp"
#include "patterns/gatherv.hpp"

namespace nhalf {

inline constexpr PatternInfo gatherv_persistent_info{
    .name = "gatherv-persistent",
    .what = "gatherv that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes,
    .rooted = true};

template <PersistentCollectives T>
class GathervPersistent : public PreparedOperation<T, Gatherv<T>> {
 public:
  using PreparedOperation<T, Gatherv<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_gatherv(this->root_, this->in_, this->out_, this->counts_,
                                            this->offsets_);
  }
};

NHALF_PATTERN(gatherv_persistent_info, GathervPersistent);

}  // namespace nhalf
