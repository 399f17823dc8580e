// Collective operations that add up the floats of all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "contract/options.hpp"
#include "patterns/bases/collectives/operation.hpp"

namespace nhalf {

/// Every rank gives a vector of floats and gets the sum of ranks 0 to `summed_ - 1`, or the part of
/// it that begins with element `first_`.
///
/// The floats are whole numbers from 1 to 16, so that sums do not depend on the order (below 2^20
/// ranks), no rank can be left out or counted twice unseen, and elements cannot change places. In
/// place the sums of a timed batch are given again and grow to infinity, which takes no longer.
template <Collectives T>
class SumOperation : public Operation<T> {
 public:
  bool verify() override {
    const auto input = floats_of(this->in_);
    const auto got = floats_of(this->out_);
    for (std::size_t i = 0; i < got.size(); ++i) got[i] = -1;
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = element(this->transport_.rank(), i);
    this->run(1);
    for (std::size_t i = 0; i < got.size(); ++i)
      if (got[i] != expected(first_ + i)) return false;
    return true;
  }

 protected:
  SumOperation(T& transport, const Case& point, std::size_t in_bytes, std::size_t out_bytes)
      : Operation<T>(transport, point, in_bytes, out_bytes), summed_(transport.size()) {
    if (point.size_bytes % sizeof(float) != 0)
      throw InputError("sums are of floats: give a multiple of 4 bytes");
  }

  int summed_;
  std::size_t first_ = 0;

 private:
  static std::span<float> floats_of(Bytes data) {
    return {reinterpret_cast<float*>(data.data()), data.size() / sizeof(float)};
  }
  static float element(int rank, std::size_t i) {
    const auto place = static_cast<std::uint32_t>(i % 4093) + 1;
    const auto mixed = place * 2654435761U + static_cast<std::uint32_t>(rank) * 40503U;
    return static_cast<float>((mixed >> 13 & 15U) + 1);
  }
  [[nodiscard]] float expected(std::size_t i) const {
    float sum = 0;
    for (int rank = 0; rank < summed_; ++rank) sum += element(rank, i);
    return sum;
  }
};

}  // namespace nhalf
