// nhalf-needs: MPI
// The end of a communicator that is revoked, and of the program.
#pragma once

#include "interposer/communicator.hpp"
#include "interposer/counts.hpp"
#include "interposer/roll_call.hpp"
#include "preloaded/chain.hpp"
#include "preloaded/library.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::coll {

/// Revokes a communicator. Ranks that wait for this one in shared memory notice it by their probes;
/// ranks that wait in messages use a separate communicator, which is revoked as well.
inline int revoke(MPI_Comm comm) {
  using Revoke = int (*)(MPI_Comm);
  static const auto library = reinterpret_cast<Revoke>(preloaded::in_mpi("PMPIX_Comm_revoke"));
  if (library == nullptr) return MPI_ERR_OTHER;
  if (Communicator* on = Communicator::of(comm)) {
    on->leave();
    if (on->has_messages()) static_cast<void>(library(on->messages()->comm()));
  }
  return library(comm);
}

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
