#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::alltoall {

/// Every rank swaps blocks with one rank after the other, beginning with rank 0: at first all wait
/// for rank 0. What a careless program does.
///
/// p (p - 1) messages. With blocks of n bytes (2 p - 3) (o_s + nG + L + o_r), where
/// g <= o_s + L + o_r: ranks i and j meet in step i + j.
template <Duplex T>
void linear(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const auto block_bytes = in.size() / static_cast<std::size_t>(ranks);
  const auto input = apart(scratch, in, out);
  place(block_of(input, rank, block_bytes), block_of(out, rank, block_bytes));
  for (int peer = 0; peer < ranks; ++peer)
    if (peer != rank)
      transport.exchange(peer, block_of(input, peer, block_bytes), peer,
                         block_of(out, peer, block_bytes));
}

inline constexpr AlgorithmInfo linear_info{
    .name = "linear",
    .what = "every rank swaps blocks with one rank after the other, beginning with rank 0",
    .source =
        "Message Passing Interface Forum, MPI: A Message-Passing Interface Standard: "
        "MPI_Alltoall as it is defined",
    .cost = "(2 * p - 3) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds { return (2 * p - 3) * m.one_s(n); }};

}  // namespace nhalf::algorithms::alltoall
