#pragma once

#include "algorithms/all_gather.hpp"
#include "patterns/bases/collectives/block_operation.hpp"
#include "patterns/bases/collectives/chosen_algorithm.hpp"
#include "patterns/bases/collectives/forms.hpp"

namespace nhalf {

inline constexpr PatternInfo gather_info{
    .name = "gather",
    .what = "the root collects a block from every rank; the size is that of a block",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_algorithm_axes,
    .rooted = true};

template <Collectives T>
class Gather : public ChosenOperation<T, BlockOperation, algorithms::gather::all<T>> {
 public:
  Gather(T& transport, const Case& point)
      : Gather::ChosenOperation(
            gather_info, transport, point, point.size_bytes, this->per_rank(transport, point),
            [](T& t, Scratch&, int root, ConstBytes in, Bytes out) { t.gather(root, in, out); }) {
    aim();
  }

 protected:
  void aim() final {
    this->out_ = this->is_root() ? this->out_buffer_.bytes() : Bytes{};
    this->in_ = this->in_place_ && this->is_root()
                    ? block_of(this->out_, this->root_, this->size_bytes_)
                    : this->in_buffer_.bytes();
  }
  [[nodiscard]] std::uint32_t given_seed(int) const override {
    return this->seed(this->transport_.rank(), this->root_);
  }
  [[nodiscard]] std::uint32_t got_seed(int block) const override {
    return this->seed(block, this->root_);
  }
};

NHALF_PATTERN(gather_info, Gather);
NHALF_FORMS(gather_info, Gather, gather);

}  // namespace nhalf
