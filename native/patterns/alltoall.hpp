// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/block_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo alltoall_info{
    .name = "alltoall",
    .what = "every rank sends every rank a block of its own; the size is that of a block",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_axes};

template <Collectives T>
class Alltoall : public BlockOperation<T> {
 public:
  Alltoall(T& transport, const Case& point)
      : BlockOperation<T>(transport, point, this->per_rank(transport, point),
                          this->per_rank(transport, point)) {
    aim();
  }

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) this->transport_.alltoall(this->in_, this->out_);
  }

 protected:
  void aim() final {
    this->out_ = this->out_buffer_.bytes();
    this->in_ = this->in_place_ ? this->out_ : this->in_buffer_.bytes();
  }
  [[nodiscard]] std::uint32_t given_seed(int block) const override {
    return this->seed(this->transport_.rank(), block);
  }
  [[nodiscard]] std::uint32_t got_seed(int block) const override {
    return this->seed(block, this->transport_.rank());
  }
};

NHALF_PATTERN(alltoall_info, Alltoall);

}  // namespace nhalf
