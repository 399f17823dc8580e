// BT in OpenMP.
#pragma once

#include "apps/npb/bt/numerics.hpp"
#include "apps/npb/flow/alternating_openmp.hpp"

namespace nhalf::npb::bt {

using OpenMp = flow::AlternatingOpenMp<Method>;

}  // namespace nhalf::npb::bt
