#pragma once

#include "algorithms/barrier/tournament.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::barrier {

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
    .source =
        "J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on "
        "Shared-Memory Multiprocessors, ACM TOCS 9(1), 1991",
    .cost = "2 * ceil(log2(p)) * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_s = [](const LogGP& m, int p, double) -> Seconds {
      return for_powers_of_two(p, 2 * doublings(p) * m.one_s(0));
    }};

}  // namespace nhalf::algorithms::barrier
