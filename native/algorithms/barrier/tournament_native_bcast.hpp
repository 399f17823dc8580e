#pragma once

#include "algorithms/barrier/tournament.hpp"
#include "algorithms/bases/wake.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::barrier {

/// A tournament; the champion raises a flag that all look at: the library's broadcast of a byte.
///
/// p - 1 messages and those of the broadcast, p - 1 in a tree; what it takes is for the library to
/// say, so there is no cost.
template <Collectives T>
void tournament_native_bcast(T& transport) {
  play_rounds(transport);
  wake_by_library(transport);
}

inline constexpr AlgorithmInfo tournament_native_bcast_info{
    .name = "tournament-native-bcast",
    .what = "pairs meet, winners go on; the library's own broadcast is the flag that all look at",
    .source =
        "D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, "
        "International Journal of Parallel Programming 17(1), 1988",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); }};

}  // namespace nhalf::algorithms::barrier
