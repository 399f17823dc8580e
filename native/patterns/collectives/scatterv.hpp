#pragma once

#include "contract/varying.hpp"
#include "patterns/bases/collectives/counted.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/collectives/scatter.hpp"

namespace nhalf {

inline constexpr PatternInfo scatterv_info{
    .name = "scatterv",
    .what =
        "scatter with counts and offsets, equal ones as in the suites; the size is that of a "
        "block",
    .needs = "varying-collectives",
    .timing = Timing::operation,
    .axes = in_place_axes,
    .rooted = true};

template <VaryingCollectives T>
using Scatterv = Called<Counted<T, Scatter<T>>, operations::scatterv>;

NHALF_PATTERN(scatterv_info, Scatterv);
NHALF_FORMS(scatterv_info, Scatterv, scatterv);

}  // namespace nhalf
