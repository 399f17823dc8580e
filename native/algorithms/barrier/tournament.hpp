// Pairs meet and winners go on; the champion, or every winner, wakes up the others.
#pragma once

#include "algorithms/barrier/central.hpp"

namespace nhalf::algorithms::barrier {
/// In round i the winners of the rounds before play in pairs at distance 2^i; who wins is settled
/// beforehand: the lower rank, which waits for the other. A loser tells its winner and is out. The
/// round in which this rank lost, as a distance; for the champion, rank 0, the first one too far.
template <Transport T>
int play_rounds(T& transport) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  int distance = 1;
  for (; distance < ranks; distance *= 2) {
    if (rank % (2 * distance) != 0) {
      transport.send(rank - distance, ConstBytes{});
      break;
    }
    if (rank + distance < ranks) transport.recv(rank + distance, Bytes{});
  }
  return distance;
}

/// A tournament; its champion then tells all others itself, as a flag does that all look at.
///
/// p - 1 messages and p - 1 more to wake up. For p = 2^k k (o_s + L + o_r) where g <= o_s + L +
/// o_r, and (p - 2) max(o_s, g) + o_s + L + o_r.
template <Transport T>
void tournament(T& transport) {
  play_rounds(transport);
  leave_from_centre(transport);
}

inline constexpr AlgorithmInfo tournament_info{
    .name = "tournament",
    .what = "pairs meet, winners go on; the champion tells all others itself",
    .source = sources::hensgen,
    .cost = "(ceil(log2(p)) + 1) * T(0) + M(0, p - 2)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_s = [](const LogGP& m, int p, double) -> Seconds {
      return for_powers_of_two(p, (doublings(p) + 1) * m.one_s(0) + (p - 2) * m.sends_apart_s(0));
    }};

/// A tournament; then every winner wakes up those who lost to it, the last one first.
///
/// 2 (p - 1) messages. For p = 2^k 2 k (o_s + L + o_r), where g <= o_s + L + o_r.
template <Transport T>
void tournament_mcs(T& transport) {
  const int lost = play_rounds(transport);
  const int rank = transport.rank();
  if (rank > 0) transport.recv(rank - lost, Bytes{});
  for (int distance = lost / 2; distance > 0; distance /= 2)
    if (rank + distance < transport.size()) transport.send(rank + distance, ConstBytes{});
}

inline constexpr AlgorithmInfo tournament_mcs_info{
    .name = "tournament-mcs",
    .what = "pairs meet, winners go on; then every winner wakes up its losers, the last one first",
    .source = sources::mellor_crummey,
    .cost = "2 * ceil(log2(p)) * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_s = [](const LogGP& m, int p, double) -> Seconds {
      return for_powers_of_two(p, 2 * doublings(p) * m.one_s(0));
    }};

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
    .source = sources::hensgen,
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); }};

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
    .source = sources::hensgen,
    .cost = "(ceil(log2(p)) + floor(log2(p))) * T(0) + floor(log2(p - 1)) * M(0, 1)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_at_most_s = [](const LogGP& m, int p, double) -> Seconds {
      return doublings(p) * m.one_s(0) + (doublings(p + 1) - 1) * (m.one_s(0) + m.sends_apart_s(0));
    }};
}  // namespace nhalf::algorithms::barrier
