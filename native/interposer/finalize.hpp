// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
#pragma once

#include "interposer/communicator.hpp"
#include "interposer/counts.hpp"

namespace nhalf::coll {

/// Reports the counts and finalizes; the library releases what is left.
inline int finalize() {
  int is_initialized = 0;
  int rank = 0;
  PMPI_Initialized(&is_initialized);
  if (is_initialized != 0) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Counts::of_process().report(rank);
  Communicator::end();
  return PMPI_Finalize();
}

}  // namespace nhalf::coll
