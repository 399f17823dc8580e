// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <vector>

#include "patterns/alltoall.hpp"

namespace nhalf {

inline constexpr PatternInfo alltoallv_info{
    .name = "alltoallv",
    .what = "alltoall with counts and offsets, equal ones as in IMB; the size is that of a block",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_axes};

/// Its buffers, their blocks and what is checked are those of alltoall.
template <Collectives T>
class Alltoallv : public Alltoall<T> {
 public:
  Alltoallv(T& transport, const Case& point)
      : Alltoall<T>(transport, addressable(transport, point)) {
    for (int rank = 0; rank < transport.size(); ++rank) {
      counts_.push_back(static_cast<int>(point.size_bytes));
      offsets_.push_back(rank * counts_.back());
    }
  }

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds)
      this->transport_.alltoallv(this->in_, counts_, offsets_, this->out_, counts_, offsets_);
  }

 protected:
  std::vector<int> counts_;
  std::vector<int> offsets_;

 private:
  /// A case whose offsets can be named, before there is memory for it.
  static const Case& addressable(const T& transport, const Case& point) {
    if (Alltoall<T>::per_rank(transport, point) > INT_MAX)
      throw InputError("offsets above 2147483647 bytes do not fit alltoallv");
    return point;
  }
};

NHALF_PATTERN(alltoallv_info, Alltoallv);

}  // namespace nhalf
