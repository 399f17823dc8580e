#pragma once

#include "algorithms/barrier/tournament.hpp"
#include "algorithms/bases/wake.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::barrier {

/// A tournament; its champion is the root of a tree of two children each, down which all wake up.
///
/// 2 (p - 1) messages. At most ceil(log2 p) (o_s + L + o_r) to arrive and floor(log2 p)
/// (o_s + L + o_r + max(o_s, g)) to wake up, where g <= o_s + L + o_r.
template <Transport T>
void tournament_tree(T& transport) {
  play_rounds(transport);
  wake_by_twos(transport);
}

inline constexpr AlgorithmInfo tournament_tree_info{
    .name = "tournament-tree",
    .what = "pairs meet, winners go on; wake-up down a tree of two",
    .source =
        "D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, "
        "International Journal of Parallel Programming 17(1), 1988",
    .cost = "(ceil(log2(p)) + floor(log2(p))) * T(0) + floor(log2(p - 1)) * M(0, 1)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_at_most_s = [](const LogGP& m, int p, double) -> Seconds {
      return doublings(p) * m.one_s(0) + (doublings(p + 1) - 1) * (m.one_s(0) + m.sends_apart_s(0));
    }};

}  // namespace nhalf::algorithms::barrier
