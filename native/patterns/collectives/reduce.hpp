#pragma once

#include "algorithms/all_reduce.hpp"
#include "patterns/bases/collectives/chosen_algorithm.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/bases/collectives/sum_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo reduce_info{
    .name = "reduce",
    .what = "the root gets the sum of all ranks' vectors of floats; the size is that of a vector",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_algorithm_axes,
    .size_multiple = 4,
    .rooted = true};

template <Collectives T>
class Reduce : public ChosenOperation<T, SumOperation, algorithms::reduce::all<T>> {
 public:
  Reduce(T& transport, const Case& point)
      : Reduce::ChosenOperation(
            reduce_info, transport, point, point.size_bytes, point.size_bytes,
            [](T& t, Scratch&, int root, ConstBytes in, Bytes out) { t.reduce(root, in, out); }) {
    aim();
  }

 protected:
  void aim() final {
    this->out_ = this->is_root() ? this->out_buffer_.bytes() : Bytes{};
    this->in_ = this->in_place_ && this->is_root() ? this->out_ : this->in_buffer_.bytes();
  }
};

NHALF_PATTERN(reduce_info, Reduce);
NHALF_FORMS(reduce_info, Reduce, reduce);

}  // namespace nhalf
