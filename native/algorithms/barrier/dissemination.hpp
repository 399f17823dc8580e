#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::barrier {

/// In round i every rank tells the rank 2^i further, and hears from the rank 2^i before it, that it
/// has come.
///
/// p ceil(log2 p) messages in ceil(log2 p) rounds of o_s + L + o_r, where g <= o_s + L + o_r.
template <Duplex T>
void dissemination(T& transport) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  for (int distance = 1; distance < ranks; distance *= 2)
    transport.exchange((rank + distance) % ranks, ConstBytes{}, (rank - distance + ranks) % ranks,
                       Bytes{});
}

inline constexpr AlgorithmInfo dissemination_info{
    .name = "dissemination",
    .what = "in round i every rank tells the rank 2^i further that it has come",
    .source =
        "D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, "
        "International Journal of Parallel Programming 17(1), 1988",
    .cost = "ceil(log2(p)) * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * doublings(p); },
    .time_s = [](const LogGP& m, int p, double) -> Seconds { return doublings(p) * m.one_s(0); }};

}  // namespace nhalf::algorithms::barrier
