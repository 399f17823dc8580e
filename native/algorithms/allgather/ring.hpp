#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::allgather {

/// In p - 1 steps every rank passes on to the next what it got from the one before, at first its
/// own block.
///
/// p (p - 1) messages. With blocks of n bytes (p - 1) (o_s + nG + L + o_r) where g <= o_s + L +
/// o_r.
template <Duplex T>
void ring(T& transport, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  place(in, block_of(out, rank, in.size()));
  for (int step = 0; step < ranks - 1; ++step) {
    const auto passed = block_of(out, (rank - step + ranks) % ranks, in.size());
    transport.exchange(next, passed, before,
                       block_of(out, (before - step + ranks) % ranks, in.size()));
  }
}

inline constexpr AlgorithmInfo ring_info{
    .name = "ring",
    .what = "every rank passes on to the next what it got from the one before",
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005",
    .cost = "(p - 1) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds { return (p - 1) * m.one_s(n); }};

}  // namespace nhalf::algorithms::allgather
