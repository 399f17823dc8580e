// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
#pragma once

#include "interposer/communicator.hpp"
#include "preloaded/library.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::coll {

/// This rank meets no other one any more, which they find out where they wait for it; those that
/// wait in messages do so on a communicator that the program does not know, which is revoked along.
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
