// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/block_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo scatter_info{
    .name = "scatter",
    .what = "the root sends every rank a block of its own; the size is that of a block",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_axes,
    .rooted = true};

template <Collectives T>
class Scatter : public BlockOperation<T> {
 public:
  Scatter(T& transport, const Case& point)
      : BlockOperation<T>(transport, point, this->per_rank(transport, point), point.size_bytes) {
    aim();
  }

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) this->transport_.scatter(this->root_, this->in_, this->out_);
  }

 protected:
  void aim() final {
    this->in_ = this->is_root() ? this->in_buffer_.bytes() : Bytes{};
    this->out_ = this->in_place_ && this->is_root()
                     ? block_of(this->in_, this->root_, this->size_bytes_)
                     : this->out_buffer_.bytes();
  }
  [[nodiscard]] std::uint32_t given_seed(int block) const override {
    return this->seed(this->root_, block);
  }
  [[nodiscard]] std::uint32_t got_seed(int) const override {
    return this->seed(this->root_, this->transport_.rank());
  }
};

NHALF_PATTERN(scatter_info, Scatter);

}  // namespace nhalf
