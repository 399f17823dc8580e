// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <vector>

#include "core/block_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo alltoallv_info{
    .name = "alltoallv",
    .what = "alltoall with counts and offsets, equal ones as in IMB; the size is that of a block",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_axes};

template <Collectives T>
class Alltoallv : public BlockOperation<T> {
 public:
  Alltoallv(T& transport, const Case& point)
      : BlockOperation<T>(transport, point, room(transport, point), room(transport, point)) {
    for (int rank = 0; rank < transport.size(); ++rank) {
      counts_.push_back(static_cast<int>(point.size_bytes));
      offsets_.push_back(rank * counts_.back());
    }
    aim();
  }

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds)
      this->transport_.alltoallv(this->in_, counts_, offsets_, this->out_, counts_, offsets_);
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

  std::vector<int> counts_;
  std::vector<int> offsets_;

 private:
  static std::size_t room(const T& transport, const Case& point) {
    const auto room_bytes = BlockOperation<T>::per_rank(transport, point);
    if (room_bytes > INT_MAX)
      throw InputError("offsets above 2147483647 bytes do not fit alltoallv");
    return room_bytes;
  }
};

NHALF_PATTERN(alltoallv_info, Alltoallv);

}  // namespace nhalf
