// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithms/all_bcast.hpp"
#include "patterns/bases/block_operation.hpp"
#include "patterns/bases/chosen_algorithm.hpp"

namespace nhalf {

inline constexpr PatternInfo bcast_info{
    .name = "bcast",
    .what = "the root sends the same bytes to all ranks; the size is what each of them gets",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = algorithm_axes,
    .rooted = true};

template <Collectives T>
class Bcast : public BlockOperation<T> {
 public:
  static std::vector<AlgorithmEntry> known() { return entries_of(list()); }

  Bcast(T& transport, const Case& point)
      : BlockOperation<T>(transport, point, 0, point.size_bytes),
        algorithm_(bcast_info, point, list(),
                   [](T& t, Scratch&, int root, Bytes data) { t.bcast(root, data); }) {
    aim();
  }

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) algorithm_(this->transport_, this->root_, this->out_);
  }

 protected:
  void aim() final {
    this->out_ = this->out_buffer_.bytes();
    this->in_ = this->is_root() ? this->out_ : Bytes{};
  }
  [[nodiscard]] std::uint32_t given_seed(int) const override { return this->seed(this->root_); }
  [[nodiscard]] std::uint32_t got_seed(int) const override { return this->seed(this->root_); }

 private:
  static const auto& list() { return algorithms::bcast::all<T>(); }

  ChosenAlgorithm<T, algorithms::bcast::Signature> algorithm_;
};

NHALF_PATTERN(bcast_info, Bcast);

}  // namespace nhalf
