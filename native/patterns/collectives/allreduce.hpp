#pragma once

#include "algorithms/all_allreduce.hpp"
#include "patterns/bases/collectives/chosen_algorithm.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/bases/collectives/sum_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo allreduce_info{
    .name = "allreduce",
    .what = "all ranks get the sum of all ranks' vectors of floats; the size is that of a vector",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_algorithm_axes,
    .size_multiple = 4};

template <Collectives T>
class Allreduce : public ChosenOperation<T, SumOperation, algorithms::allreduce::all<T>> {
 public:
  Allreduce(T& transport, const Case& point)
      : Allreduce::ChosenOperation(
            allreduce_info, transport, point, point.size_bytes, point.size_bytes,
            [](T& t, Scratch&, ConstBytes in, Bytes out) { t.allreduce(in, out); }) {}
};

NHALF_PATTERN(allreduce_info, Allreduce);
NHALF_FORMS(allreduce_info, Allreduce, allreduce);

}  // namespace nhalf
