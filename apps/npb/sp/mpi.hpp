// nhalf-needs: MPI
// SP by message passing.
#pragma once

#include "apps/npb/flow/alternating_mpi.hpp"
#include "apps/npb/sp/numerics.hpp"

namespace nhalf::npb::sp {

using Mpi = flow::AlternatingMpi<Method>;

}  // namespace nhalf::npb::sp
