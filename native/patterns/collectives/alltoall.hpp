#pragma once

#include "algorithms/all_alltoall.hpp"
#include "patterns/bases/collectives/block_operation.hpp"
#include "patterns/bases/collectives/chosen_algorithm.hpp"
#include "patterns/bases/collectives/forms.hpp"

namespace nhalf {

inline constexpr PatternInfo alltoall_info{
    .name = "alltoall",
    .what = "every rank sends every rank a block of its own; the size is that of a block",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_algorithm_axes};

template <Collectives T>
class Alltoall : public ChosenOperation<T, BlockOperation, algorithms::alltoall::all<T>> {
 public:
  Alltoall(T& transport, const Case& point)
      : Alltoall::ChosenOperation(
            alltoall_info, transport, point, this->per_rank(transport, point),
            this->per_rank(transport, point),
            [](T& t, Scratch&, ConstBytes in, Bytes out) { t.alltoall(in, out); }) {}

 protected:
  [[nodiscard]] std::uint32_t given_seed(int block) const override {
    return this->seed(this->transport_.rank(), block);
  }
  [[nodiscard]] std::uint32_t got_seed(int block) const override {
    return this->seed(block, this->transport_.rank());
  }
};

NHALF_PATTERN(alltoall_info, Alltoall);
NHALF_FORMS(alltoall_info, Alltoall, alltoall);

}  // namespace nhalf
