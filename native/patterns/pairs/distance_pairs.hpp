// Any two ranks while all others wait, and several pairs of ranks at once.
#pragma once

#include "patterns/bases/pairs/partners.hpp"
#include "patterns/pairs/pingpong.hpp"
#include "patterns/pairs/stream_bibw.hpp"

namespace nhalf {
inline constexpr AxisInfo distance_axes[] = {
    {"first", "0:ranks-2", "", "the rank that sends first"},
    {"second", "first+1:ranks-1", "", "the rank that answers"}};

inline constexpr PatternInfo distance_info{
    .name = "distance",
    .what = "ping-pong between any two ranks while all others wait; half the round trip",
    .messages_per_round = 2,
    .timing = Timing::slowest_rank,
    .axes = distance_axes};

inline Game distance_game(int, int ranks, const Case& point) {
  const int first = point.axis("first", 0, ranks - 2);
  return {{first, point.axis("second", first + 1, ranks - 1)}};
}
template <Transport T>
using Distance = PlayedBy<PingPong<T>, T, distance_game>;
NHALF_PATTERN(distance_info, Distance);

inline constexpr PatternInfo pairs_latency{
    .name = "pairs-latency",
    .what = "several pairs of ranks play ping-pong at once; half the round trip of the slowest",
    .messages_per_round = 2,
    .timing = Timing::slowest_rank,
    .axes = pairs_axes};

inline Game game_of_pairs(int rank, int ranks, const Case& point) {
  return {spread_pair(rank, ranks, point.axis("pairs", 1, ranks / 2))};
}
template <Transport T>
using PairsLatency = PlayedBy<PingPong<T>, T, game_of_pairs>;
NHALF_PATTERN(pairs_latency, PairsLatency);

inline constexpr PatternInfo pairs_bandwidth{
    .name = "pairs-bandwidth",
    .what =
        "in several pairs at once one rank pumps messages to the other, which acknowledges once "
        "at the end of a batch; the bytes of all pairs in the time of the slowest",
    .rounds_min = 16,
    .acknowledged = true,
    .timing = Timing::slowest_rank,
    .axes = pairs_axes};

inline Game streams_of_pairs(int rank, int ranks, const Case& point) {
  const int pairs = point.axis("pairs", 1, ranks / 2);
  return {spread_pair(rank, ranks, pairs), static_cast<std::uint64_t>(pairs) * point.size_bytes};
}
template <Transport T>
using PairsBandwidth = PlayedBy<Stream<T>, T, streams_of_pairs>;
NHALF_PATTERN(pairs_bandwidth, PairsBandwidth);
}  // namespace nhalf
