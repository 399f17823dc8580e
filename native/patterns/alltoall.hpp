// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithms/all_alltoall.hpp"
#include "patterns/bases/block_operation.hpp"
#include "patterns/bases/chosen_algorithm.hpp"

namespace nhalf {

inline constexpr PatternInfo alltoall_info{
    .name = "alltoall",
    .what = "every rank sends every rank a block of its own; the size is that of a block",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_algorithm_axes};

template <Collectives T>
class Alltoall : public BlockOperation<T> {
 public:
  static std::vector<AlgorithmEntry> known() { return entries_of(list()); }

  Alltoall(T& transport, const Case& point)
      : BlockOperation<T>(transport, point, this->per_rank(transport, point),
                          this->per_rank(transport, point)),
        algorithm_(alltoall_info, point, list(),
                   [](T& t, Scratch&, ConstBytes in, Bytes out) { t.alltoall(in, out); }) {
    aim();
  }

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) algorithm_(this->transport_, this->in_, this->out_);
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

 private:
  static const auto& list() { return algorithms::alltoall::all<T>(); }

  ChosenAlgorithm<T, algorithms::alltoall::Signature> algorithm_;
};

NHALF_PATTERN(alltoall_info, Alltoall);

}  // namespace nhalf
