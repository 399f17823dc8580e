// Everybody gets its block from the root.
#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::scatter {
/// Down a binomial tree: a rank that has blocks for 2^i ranks, counted from the root, sends half of
/// them to the first of the upper half, and goes on with the lower half.
///
/// p - 1 messages. For p = 2^k and blocks of n bytes k (o_s + L + o_r) + (p - 1) nG, where
/// g <= o_s + L + o_r; copying costs nothing in LogGP.
template <Transport T>
void binomial(T& transport, Scratch& scratch, int root, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int at = (transport.rank() - root + ranks) % ranks;
  const auto block_bytes = out.size();
  int served = 1;
  while (served < ranks && at % (2 * served) == 0) served *= 2;
  const auto held = scratch.bytes(static_cast<std::size_t>(ranks - at) * block_bytes);
  const auto blocks_from = [&](int first, int count) {
    return held.subspan(static_cast<std::size_t>(first) * block_bytes,
                        static_cast<std::size_t>(count) * block_bytes);
  };
  for (int distance = 0; at == 0 && distance < ranks; ++distance)
    place(block_of(in, (root + distance) % ranks, block_bytes), blocks_from(distance, 1));
  if (at > 0)
    transport.recv((at - served + root) % ranks, blocks_from(0, std::min(served, ranks - at)));
  for (int half = served / 2; half > 0; half /= 2)
    if (at + half < ranks)
      transport.send((at + half + root) % ranks,
                     blocks_from(half, std::min(half, ranks - at - half)));
  place(blocks_from(0, 1), out);
}

inline constexpr AlgorithmInfo binomial_info{
    .name = "binomial",
    .what = "down a binomial tree, all blocks of a branch in one message",
    .source = sources::thakur,
    .cost = "ceil(log2(p)) * T(n * (p - 1) / ceil(log2(p)))",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, doublings(p) * m.one_s(0) + (p - 1) * n * m.G);
    }};

/// The root sends to one rank after the other, beginning with the next.
///
/// p - 1 messages. With blocks of n bytes (p - 2) max(o_s, g + nG) + o_s + nG + L + o_r.
template <Transport T>
void linear(T& transport, int root, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  if (transport.rank() != root) return transport.recv(root, out);
  for (int distance = 1; distance < ranks; ++distance) {
    const int peer = (root + distance) % ranks;
    transport.send(peer, block_of(in, peer, out.size()));
  }
  place(block_of(in, root, out.size()), out);
}

inline constexpr AlgorithmInfo linear_info{
    .name = "linear",
    .what = "the root sends to one rank after the other",
    .source = sources::alexandrov_sender,
    .cost = "M(n, p - 2) + T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return (p - 2) * m.sends_apart_s(n) + m.one_s(n);
    }};
}  // namespace nhalf::algorithms::scatter
