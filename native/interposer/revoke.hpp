// nhalf-needs: MPI
#pragma once

#include "interposer/communicator.hpp"
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

}  // namespace nhalf::coll
