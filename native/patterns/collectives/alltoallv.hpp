#pragma once

#include "patterns/bases/collectives/counted.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/collectives/alltoall.hpp"

namespace nhalf {

inline constexpr PatternInfo alltoallv_info{
    .name = "alltoallv",
    .what = "alltoall with counts and offsets, equal ones as in IMB; the size is that of a block",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_axes};

template <Collectives T>
using Alltoallv = Called<Counted<T, Alltoall<T>>, operations::alltoallv>;

NHALF_PATTERN(alltoallv_info, Alltoallv);
NHALF_FORMS(alltoallv_info, Alltoallv, alltoallv);

}  // namespace nhalf
