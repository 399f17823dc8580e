#pragma once

#include "algorithms/barrier/central.hpp"
#include "contract/algorithm.hpp"

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
    .source =
        "D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, "
        "International Journal of Parallel Programming 17(1), 1988",
    .cost = "(ceil(log2(p)) + 1) * T(0) + M(0, p - 2)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_s = [](const LogGP& m, int p, double) -> Seconds {
      return for_powers_of_two(p, (doublings(p) + 1) * m.one_s(0) + (p - 2) * m.sends_apart_s(0));
    }};

}  // namespace nhalf::algorithms::barrier
