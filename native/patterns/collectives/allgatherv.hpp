#pragma once

#include "contract/varying.hpp"
#include "patterns/bases/collectives/counted.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/collectives/allgather.hpp"

namespace nhalf {

inline constexpr PatternInfo allgatherv_info{
    .name = "allgatherv",
    .what =
        "allgather with counts and offsets, equal ones as in the suites; the size is that of a "
        "block",
    .needs = "varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_axes};

template <VaryingCollectives T>
using Allgatherv = Called<Counted<T, Allgather<T>>, operations::allgatherv>;

NHALF_PATTERN(allgatherv_info, Allgatherv);
NHALF_FORMS(allgatherv_info, Allgatherv, allgatherv);

}  // namespace nhalf
