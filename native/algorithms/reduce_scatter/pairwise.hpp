#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::reduce_scatter {

/// In step k every rank sends, to the rank k further, that rank's block, and adds what the rank k
/// before it sends. The sum grows outside of `out`, which may be a block that has still to be sent.
///
/// p (p - 1) messages. With blocks of n bytes (p - 1) (o_s + nG + L + o_r) where g <= o_s + L +
/// o_r; adding costs nothing in LogGP.
template <Duplex T>
void pairwise(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const auto room = scratch.bytes(2 * out.size());
  const auto received = room.first(out.size());
  const auto sum = room.last(out.size());
  place(block_of(in, rank, out.size()), sum);
  for (int distance = 1; distance < ranks; ++distance) {
    const int to = (rank + distance) % ranks;
    const int from = (rank - distance + ranks) % ranks;
    transport.exchange(to, block_of(in, to, out.size()), from, received);
    combine(transport, received, sum);
  }
  place(sum, out);
}

inline constexpr AlgorithmInfo pairwise_info{
    .name = "pairwise",
    .what = "in step k every rank sends to the rank k further what that rank is to have",
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005",
    .cost = "(p - 1) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds { return (p - 1) * m.one_s(n); }};

}  // namespace nhalf::algorithms::reduce_scatter
