// The root gets everybody's block.
#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::gather {
/// Up a binomial tree: in step i ranks, counted from the root, whose lowest set bit is bit i send
/// all blocks that they have to the rank 2^i before them. The root puts blocks in order in the end.
///
/// p - 1 messages. For p = 2^k and blocks of n bytes k (o_s + L + o_r) + (p - 1) nG, where
/// g <= o_s + L + o_r; copying costs nothing in LogGP.
template <Transport T>
void binomial(T& transport, Scratch& scratch, int root, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int at = (transport.rank() - root + ranks) % ranks;
  const auto block_bytes = in.size();
  const auto held = scratch.bytes(static_cast<std::size_t>(ranks - at) * block_bytes);
  const auto blocks_from = [&](int first, int count) {
    return held.subspan(static_cast<std::size_t>(first) * block_bytes,
                        static_cast<std::size_t>(count) * block_bytes);
  };
  place(in, blocks_from(0, 1));
  for (int distance = 1; distance < ranks; distance *= 2) {
    if (at % (2 * distance) != 0)
      return transport.send((at - distance + root) % ranks,
                            blocks_from(0, std::min(distance, ranks - at)));
    if (at + distance < ranks)
      transport.recv((at + distance + root) % ranks,
                     blocks_from(distance, std::min(distance, ranks - at - distance)));
  }
  for (int distance = 0; distance < ranks; ++distance)
    place(blocks_from(distance, 1), block_of(out, (root + distance) % ranks, block_bytes));
}

inline constexpr AlgorithmInfo binomial_info{
    .name = "binomial",
    .what = "up a binomial tree, all blocks of a branch in one message",
    .source = sources::thakur,
    .cost = "ceil(log2(p)) * T(n * (p - 1) / ceil(log2(p)))",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, doublings(p) * m.one_s(0) + (p - 1) * n * m.G);
    }};

/// Every rank sends to the root, which takes one message after the other, from the next rank on.
///
/// p - 1 messages. With blocks of n bytes o_s + nG + L + (p - 2) max(o_r, g + nG) + o_r.
template <Transport T>
void linear(T& transport, int root, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  if (transport.rank() != root) return transport.send(root, in);
  for (int distance = 1; distance < ranks; ++distance) {
    const int peer = (root + distance) % ranks;
    transport.recv(peer, block_of(out, peer, in.size()));
  }
  place(in, block_of(out, root, in.size()));
}

inline constexpr AlgorithmInfo linear_info{
    .name = "linear",
    .what = "every rank sends to the root",
    .source = sources::alexandrov_receiver,
    .cost = "R(n, p - 2) + T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return (p - 2) * m.receives_apart_s(n) + m.one_s(n);
    }};
}  // namespace nhalf::algorithms::gather
