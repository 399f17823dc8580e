#pragma once

#include "algorithms/all_scatter.hpp"
#include "patterns/bases/collectives/block_operation.hpp"
#include "patterns/bases/collectives/chosen_algorithm.hpp"
#include "patterns/bases/collectives/forms.hpp"

namespace nhalf {

inline constexpr PatternInfo scatter_info{
    .name = "scatter",
    .what = "the root sends every rank a block of its own; the size is that of a block",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_algorithm_axes,
    .rooted = true};

template <Collectives T>
class Scatter : public ChosenOperation<T, BlockOperation, algorithms::scatter::all<T>> {
 public:
  Scatter(T& transport, const Case& point)
      : Scatter::ChosenOperation(
            scatter_info, transport, point, this->per_rank(transport, point), point.size_bytes,
            [](T& t, Scratch&, int root, ConstBytes in, Bytes out) { t.scatter(root, in, out); }) {
    aim();
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
NHALF_FORMS(scatter_info, Scatter, scatter);

}  // namespace nhalf
