#pragma once

#include "algorithms/all_scan.hpp"
#include "patterns/bases/collectives/chosen_algorithm.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/bases/collectives/sum_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo scan_info{
    .name = "scan",
    .what = "every rank gets the sum of its own vector of floats and those of the ranks before it",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_algorithm_axes,
    .size_multiple = 4};

template <Collectives T>
class Scan : public ChosenOperation<T, SumOperation, algorithms::scan::all<T>> {
 public:
  Scan(T& transport, const Case& point)
      : Scan::ChosenOperation(scan_info, transport, point, point.size_bytes, point.size_bytes,
                              [](T& t, Scratch&, ConstBytes in, Bytes out) { t.scan(in, out); }) {
    this->summed_ = transport.rank() + 1;
  }
};

NHALF_PATTERN(scan_info, Scan);
NHALF_FORMS(scan_info, Scan, scan);

}  // namespace nhalf
