#pragma once

#include <utility>

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::reduce_scatter {

/// Every block goes once round a ring, from the rank after the one that is to have it, and each
/// rank adds its own to what passes.
///
/// p (p - 1) messages. With blocks of n bytes (p - 1) (o_s + nG + L + o_r), where g <= o_s + L +
/// o_r; adding costs nothing in LogGP.
template <Duplex T>
void ring(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  const auto room = scratch.bytes(2 * out.size());
  auto sum = room.first(out.size());
  auto received = room.last(out.size());
  place(block_of(in, before, out.size()), sum);
  for (int step = 1; step < ranks; ++step) {
    transport.exchange(next, sum, before, received);
    combine(transport, block_of(in, (before - step + ranks) % ranks, out.size()), received);
    std::swap(sum, received);
  }
  place(sum, out);
}

inline constexpr AlgorithmInfo ring_info{
    .name = "ring",
    .what = "every block goes once round a ring, and each rank adds its own to what passes",
    .source =
        "P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of "
        "Workstations, Journal of Parallel and Distributed Computing 69(2), 2009",
    .cost = "(p - 1) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds { return (p - 1) * m.one_s(n); }};

}  // namespace nhalf::algorithms::reduce_scatter
