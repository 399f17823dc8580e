// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/prepared_operation.hpp"
#include "patterns/scan.hpp"

namespace nhalf {

inline constexpr PatternInfo scan_persistent_info{
    .name = "scan-persistent",
    .what = "scan that is set up once and started again and again",
    .needs = "persistent-collectives",
    .timing = Timing::operation,
    .axes = in_place_persistent_axes,
    .size_multiple = 4};

template <PersistentCollectives T>
class ScanPersistent : public PreparedOperation<T, Scan<T>> {
 public:
  using PreparedOperation<T, Scan<T>>::PreparedOperation;

 protected:
  typename T::CollectiveRequest prepared() override {
    return this->transport_.prepare_scan(this->in_, this->out_);
  }
};

NHALF_PATTERN(scan_persistent_info, ScanPersistent);

}  // namespace nhalf
