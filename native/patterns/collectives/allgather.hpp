#pragma once

#include "algorithms/all_allgather.hpp"
#include "patterns/bases/collectives/block_operation.hpp"
#include "patterns/bases/collectives/chosen_algorithm.hpp"
#include "patterns/bases/collectives/forms.hpp"

namespace nhalf {

inline constexpr PatternInfo allgather_info{
    .name = "allgather",
    .what = "all ranks collect a block from every rank; the size is that of a block",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_algorithm_axes};

template <Collectives T>
class Allgather : public ChosenOperation<T, BlockOperation, algorithms::allgather::all<T>> {
 public:
  Allgather(T& transport, const Case& point)
      : Allgather::ChosenOperation(
            allgather_info, transport, point, point.size_bytes, this->per_rank(transport, point),
            [](T& t, Scratch&, ConstBytes in, Bytes out) { t.allgather(in, out); }) {
    aim();
  }

 protected:
  void aim() final {
    this->out_ = this->out_buffer_.bytes();
    this->in_ = this->in_place_ ? block_of(this->out_, this->transport_.rank(), this->size_bytes_)
                                : this->in_buffer_.bytes();
  }
  [[nodiscard]] std::uint32_t given_seed(int) const override {
    return this->seed(this->transport_.rank());
  }
  [[nodiscard]] std::uint32_t got_seed(int block) const override { return this->seed(block); }
};

NHALF_PATTERN(allgather_info, Allgather);
NHALF_FORMS(allgather_info, Allgather, allgather);

}  // namespace nhalf
