#pragma once

#include "contract/varying.hpp"
#include "patterns/bases/collectives/counted.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/collectives/alltoall.hpp"

namespace nhalf {

inline constexpr PatternInfo alltoallw_info{
    .name = "alltoallw",
    .what =
        "alltoallv with a type per rank besides, all of them bytes; the size is that of a block",
    .needs = "varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_axes};

template <VaryingCollectives T>
using Alltoallw = Called<Counted<T, Alltoall<T>>, operations::alltoallw>;

NHALF_PATTERN(alltoallw_info, Alltoallw);
NHALF_FORMS(alltoallw_info, Alltoallw, alltoallw);

}  // namespace nhalf
