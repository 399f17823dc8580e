#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::alltoall {

/// In step k every rank sends to the rank k further while it receives from the rank k before it.
///
/// p (p - 1) messages. With blocks of n bytes (p - 1) (o_s + nG + L + o_r), where g <= o_s + L +
/// o_r.
template <Duplex T>
void pairwise(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const auto block_bytes = in.size() / static_cast<std::size_t>(ranks);
  const auto input = apart(scratch, in, out);
  place(block_of(input, rank, block_bytes), block_of(out, rank, block_bytes));
  for (int distance = 1; distance < ranks; ++distance) {
    const int to = (rank + distance) % ranks;
    const int from = (rank - distance + ranks) % ranks;
    transport.exchange(to, block_of(input, to, block_bytes), from,
                       block_of(out, from, block_bytes));
  }
}

inline constexpr AlgorithmInfo pairwise_info{
    .name = "pairwise",
    .what = "in step k every rank sends to the rank k further",
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005",
    .cost = "(p - 1) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds { return (p - 1) * m.one_s(n); }};

}  // namespace nhalf::algorithms::alltoall
