// nhalf-needs: MPI
#pragma once

#include "interposer/communicator.hpp"
#include "interposer/counts.hpp"
#include "interposer/roll_call.hpp"
#include "preloaded/chain.hpp"

namespace nhalf::coll {

/// Reports the counts, and finalizes the next tool or the library, which releases what is left.
inline int finalize() {
  int is_initialized = 0;
  int rank = 0;
  PMPI_Initialized(&is_initialized);
  if (is_initialized != 0) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Counts::of_process().report(rank);
  Communicator::end();
  auto* const then = reinterpret_cast<decltype(&PMPI_Finalize)>(preloaded::behind("MPI_Finalize"));
  const int error = then();
  RollCall::of_process().leave();
  return error;
}

}  // namespace nhalf::coll
