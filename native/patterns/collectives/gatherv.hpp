#pragma once

#include "contract/varying.hpp"
#include "patterns/bases/collectives/counted.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/collectives/gather.hpp"

namespace nhalf {

inline constexpr PatternInfo gatherv_info{
    .name = "gatherv",
    .what =
        "gather with counts and offsets, equal ones as in the suites; the size is that of a "
        "block",
    .needs = "varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_axes,
    .rooted = true};

template <VaryingCollectives T>
using Gatherv = Called<Counted<T, Gather<T>>, operations::gatherv>;

NHALF_PATTERN(gatherv_info, Gatherv);
NHALF_FORMS(gatherv_info, Gatherv, gatherv);

}  // namespace nhalf
