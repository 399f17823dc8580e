#pragma once

#include <algorithm>

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::allgather {

/// In step i every rank sends all blocks that it has, but no more than are still missing, to the
/// rank 2^i before it. Blocks lie in the order in which they come, and are put in order in the end.
///
/// p ceil(log2 p) messages. With blocks of n bytes ceil(log2 p) (o_s + L + o_r) + (p - 1) nG, where
/// g <= o_s + L + o_r.
template <Duplex T>
void bruck(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const auto block_bytes = in.size();
  const auto coming = scratch.bytes(out.size());
  place(in, block_of(coming, 0, block_bytes));
  for (int held = 1; held < ranks; held *= 2) {
    const auto moved = static_cast<std::size_t>(std::min(held, ranks - held)) * block_bytes;
    const auto at = static_cast<std::size_t>(held) * block_bytes;
    transport.exchange((rank - held + ranks) % ranks, coming.first(moved), (rank + held) % ranks,
                       coming.subspan(at, moved));
  }
  for (int i = 0; i < ranks; ++i)
    place(block_of(coming, i, block_bytes), block_of(out, (rank + i) % ranks, block_bytes));
}

inline constexpr AlgorithmInfo bruck_info{
    .name = "bruck",
    .what = "in step i every rank sends all blocks that it has to the rank 2^i before it",
    .source =
        "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for "
        "All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), "
        "1997",
    .cost = "ceil(log2(p)) * T(n * (p - 1) / ceil(log2(p)))",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * doublings(p); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return doublings(p) * m.one_s(0) + (p - 1) * n * m.G;
    }};

}  // namespace nhalf::algorithms::allgather
