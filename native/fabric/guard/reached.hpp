// nhalf-needs: MPI
// Follows accesses to other ranks' memory until they are complete there, to find those that did not
// pass the network.
#pragma once

#include <cstddef>

#include "fabric/guard/guard.hpp"
#include "fabric/guard/handle_table.hpp"
#include "fabric/guard/operations.hpp"
#include "fabric/interface.hpp"
#include "fabric/role.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::fabric {

/// Accesses to a window that are not complete: to one rank, or to several.
struct Reached {
  Amount amount;
  Passed before;
  int target = roles::Reach::everyone;
};

inline HandleTable<MPI_Win, Reached, 6>& reached_windows() {
  static constinit HandleTable<MPI_Win, Reached, 6> windows;
  return windows;
}

/// Notes an access that a call has begun.
inline void note_access(const roles::Role& role, const Passed& before) {
  Guard::of_process().note(role.amount);
  auto* const reached = reached_windows().find(role.reach.window);
  if (reached == nullptr) {
    reached_windows().note(role.reach.window, {role.amount, before, role.reach.target});
    return;
  }
  reached->amount += role.amount;
  if (reached->target != role.reach.target) reached->target = roles::Reach::everyone;
}

/// Checks the accesses that a call has completed. One that completes those to one rank of several
/// leaves it open what passed for it.
inline void check_accesses(const Interface& network, const roles::Reach& reach) {
  const auto* const reached = reached_windows().find(reach.window);
  if (reached == nullptr) return;
  if (reach.target == roles::Reach::everyone || reach.target == reached->target)
    Guard::check_accesses(network, reached->amount, reached->before);
  reached_windows().remove(reach.window);
}

}  // namespace nhalf::fabric
