// SP in OpenMP.
#pragma once

#include "apps/npb/flow/alternating_openmp.hpp"
#include "apps/npb/sp/numerics.hpp"

namespace nhalf::npb::sp {

using OpenMp = flow::AlternatingOpenMp<Method>;

}  // namespace nhalf::npb::sp
