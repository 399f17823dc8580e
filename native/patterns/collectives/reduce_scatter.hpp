#pragma once

#include "algorithms/all_reduce_scatter.hpp"
#include "patterns/bases/collectives/chosen_algorithm.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/bases/collectives/sum_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo reduce_scatter_info{
    .name = "reduce-scatter",
    .what =
        "the sum of all ranks' vectors of floats, scattered in equal blocks; the size is that of a "
        "vector, rounded up to one float per rank",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_algorithm_axes,
    .size_multiple = 4};

template <Collectives T>
class ReduceScatter : public ChosenOperation<T, SumOperation, algorithms::reduce_scatter::all<T>> {
 public:
  ReduceScatter(T& transport, const Case& point)
      : ReduceScatter::ChosenOperation(
            reduce_scatter_info, transport, point, block_bytes(transport, point) * ranks(transport),
            block_bytes(transport, point),
            [](T& t, Scratch&, ConstBytes in, Bytes out) { t.reduce_scatter(in, out); }) {
    this->first_ =
        block_bytes(transport, point) / sizeof(float) * static_cast<std::size_t>(transport.rank());
    aim();
  }

 protected:
  void aim() final {
    this->in_ = this->in_buffer_.bytes();
    const auto block = this->out_buffer_.bytes();
    this->out_ = this->in_place_ ? this->in_.first(block.size()) : block;
  }

 private:
  static std::size_t ranks(const T& transport) {
    return static_cast<std::size_t>(transport.size());
  }
  /// What every rank gets: as many floats as suffice for the vector.
  static std::size_t block_bytes(const T& transport, const Case& point) {
    const auto floats = point.size_bytes / sizeof(float);
    return (floats + ranks(transport) - 1) / ranks(transport) * sizeof(float);
  }
};

NHALF_PATTERN(reduce_scatter_info, ReduceScatter);
NHALF_FORMS(reduce_scatter_info, ReduceScatter, reduce_scatter);

}  // namespace nhalf
