#pragma once

#include "algorithms/all_bcast.hpp"
#include "patterns/bases/collectives/block_operation.hpp"
#include "patterns/bases/collectives/chosen_algorithm.hpp"
#include "patterns/bases/collectives/forms.hpp"

namespace nhalf {

inline constexpr auto bcast_axes = joined(algorithm_axes, part_axis);

inline constexpr PatternInfo bcast_info{
    .name = "bcast",
    .what = "the root sends the same bytes to all ranks; the size is what each of them gets",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = bcast_axes,
    .rooted = true};

template <Collectives T>
class Bcast : public ChosenOperation<T, BlockOperation, algorithms::bcast::all<T>> {
 public:
  Bcast(T& transport, const Case& point)
      : Bcast::ChosenOperation(bcast_info, transport, point, 0, point.size_bytes,
                               [](T& t, Scratch&, int root, Bytes data) { t.bcast(root, data); }) {
    aim();
  }

 protected:
  void aim() final {
    this->out_ = this->out_buffer_.bytes();
    this->in_ = this->is_root() ? this->out_ : Bytes{};
  }
  [[nodiscard]] std::uint32_t given_seed(int) const override { return this->seed(this->root_); }
  [[nodiscard]] std::uint32_t got_seed(int) const override { return this->seed(this->root_); }
};

NHALF_PATTERN(bcast_info, Bcast);
NHALF_FORMS(bcast_info, Bcast, bcast);

}  // namespace nhalf
