// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include "interposer/communicator.hpp"
#include "interposer/handles.hpp"

namespace nhalf::coll {

/// This rank meets no other one any more, which they find out where they wait for it; those that
/// wait in messages do so on a communicator that the program does not know, which is revoked along.
inline int revoke(MPI_Comm comm) {
  using Revoke = int (*)(MPI_Comm);
  static const auto library = reinterpret_cast<Revoke>(dlsym(RTLD_NEXT, "PMPIX_Comm_revoke"));
  if (library == nullptr) return MPI_ERR_OTHER;
  if (!is_served()) return library(comm);
  if (Communicator* on = Communicator::of(comm)) {
    on->leave();
    if (on->has_messages()) static_cast<void>(library(on->messages()->comm()));
  }
  return library(comm);
}

}  // namespace nhalf::coll
