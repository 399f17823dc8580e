// nhalf-needs: MPI
// BT by message passing.
#pragma once

#include "apps/npb/bt/numerics.hpp"
#include "apps/npb/flow/alternating_mpi.hpp"

namespace nhalf::npb::bt {

using Mpi = flow::AlternatingMpi<Method>;

}  // namespace nhalf::npb::bt
