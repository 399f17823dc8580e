// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithms/all_scatter.hpp"
#include "patterns/bases/block_operation.hpp"
#include "patterns/bases/chosen_algorithm.hpp"

namespace nhalf {

inline constexpr PatternInfo scatter_info{
    .name = "scatter",
    .what = "the root sends every rank a block of its own; the size is that of a block",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_algorithm_axes,
    .rooted = true};

template <Collectives T>
class Scatter : public BlockOperation<T> {
 public:
  static std::vector<AlgorithmEntry> known() { return entries_of(list()); }

  Scatter(T& transport, const Case& point)
      : BlockOperation<T>(transport, point, this->per_rank(transport, point), point.size_bytes),
        algorithm_(
            scatter_info, point, list(),
            [](T& t, Scratch&, int root, ConstBytes in, Bytes out) { t.scatter(root, in, out); }) {
    aim();
  }

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) algorithm_(this->transport_, this->root_, this->in_, this->out_);
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

 private:
  static const auto& list() { return algorithms::scatter::all<T>(); }

  ChosenAlgorithm<T, algorithms::scatter::Signature> algorithm_;
};

NHALF_PATTERN(scatter_info, Scatter);

}  // namespace nhalf
