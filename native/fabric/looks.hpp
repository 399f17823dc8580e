// SPDX-License-Identifier: Apache-2.0
// Loops that look for a message: what they mean for ranks that wait, and when nothing ends them.
#pragma once

#include <cstddef>
#include <string_view>

#include "fabric/inbox.hpp"
#include "fabric/picoseconds.hpp"
#include "fabric/region.hpp"

namespace nhalf::fabric {

inline constexpr int free_looks = 1000;
inline constexpr int free_polls_max = 8;
/// A lock that is never given back is tried again and again.
inline constexpr int accesses_between_looks = 1000;
/// Libraries look at several places at once.
inline constexpr int looks_at_once = 64;
inline constexpr unsigned looks_in_vain_many = 1024;
inline constexpr unsigned looks_in_vain_max = 1'000'000;

/// How often a library may poll after an event, in a call of MPI, before nothing is left to do.
/// Open MPI calls what is not urgent at every eighth poll. MPICH reaches its own window through
/// memory that it shares with itself, at which it looks as rarely as at every hundredth.
inline int polls_per_event(std::string_view call) {
  return call.starts_with("MPI_Win_") ? 256 : 8;
}

/// Lets ranks that wait without an event poll once more: their library may have something to do
/// that nothing tells the network of, and a rank that looks for it would keep the turn.
inline void let_all_poll(Region& region, int ranks, Picoseconds time) {
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank)
    if (region.slots[rank].is_idle != 0 && region.next[rank] == never) region.next[rank] = time;
}

/// Whether all ranks wait, or look in loops that only a message ends, and none is on its way.
inline bool can_nothing_happen(Region& region, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    const bool is_over = has_left(region.members[at].presence);
    if (is_over) continue;
    if (region.next[at] != never && region.slots[at].has_looked_long == 0) return false;
    if (Inbox(region, rank).due() != never) return false;
  }
  return true;
}

}  // namespace nhalf::fabric
