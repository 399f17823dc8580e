// Everybody gets everybody's block.
#pragma once

#include "algorithms/bases/folding.hpp"
#include "algorithms/bcast/trees.hpp"
#include "algorithms/gather/gather.hpp"

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
    .source = sources::bruck,
    .cost = "ceil(log2(p)) * T(n * (p - 1) / ceil(log2(p)))",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * doublings(p); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return doublings(p) * m.one_s(0) + (p - 1) * n * m.G;
    }};

/// All send to rank 0, which sends all blocks to one rank after the other.
///
/// 2 (p - 1) messages. With blocks of n bytes o_s + nG + L + o_r + (p - 2) max(o_r, g + nG) and
/// then (p - 2) max(o_s, g + pnG) + o_s + pnG + L + o_r.
template <Transport T>
void linear(T& transport, ConstBytes in, Bytes out) {
  gather::linear(transport, 0, in, out);
  bcast::linear(transport, 0, out);
}

inline constexpr AlgorithmInfo linear_info{
    .name = "linear",
    .what = "all send to rank 0, which sends all blocks to one rank after the other",
    .source =
        "A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, LogGP: Incorporating Long "
        "Messages into the LogP Model, SPAA 1995: one receiver, then one sender",
    .cost = "R(n, p - 2) + T(n) + M(p * n, p - 2) + T(p * n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return (p - 2) * (m.receives_apart_s(n) + m.sends_apart_s(p * n)) + m.one_s(n) +
             m.one_s(p * n);
    }};

/// In step i every rank swaps all that it has with the rank whose number differs in bit i. Of p
/// ranks 2^k act, some of them for two, whose blocks lie side by side.
///
/// 2 (p - 2^k) + 2^k k messages. For p = 2^k and blocks of n bytes k (o_s + L + o_r) + (p - 1) nG,
/// where g <= o_s + L + o_r.
template <Duplex T>
void recursive_doubling(T& transport, ConstBytes in, Bytes out) {
  const Folding folding{transport.size()};
  const int rank = transport.rank();
  const auto rank_at = [](int place) { return place; };
  const auto rank_of = [=](int actor) { return folding.place_of(actor); };
  const auto start_of = [=, block_bytes = in.size()](int actor) {
    return static_cast<std::size_t>(folding.place_of(actor)) * block_bytes;
  };
  place(in, block_of(out, rank, in.size()));
  if (folding.is_paired(rank)) {
    if (folding.acts(rank))
      transport.recv(rank + 1, block_of(out, rank + 1, in.size()));
    else
      transport.send(rank - 1, in);
  }
  if (folding.acts(rank))
    double_up(transport, folding.actors(), folding.actor_at(rank), rank_of, start_of, out);
  unfold(transport, folding, rank, rank_at, out);
}

inline constexpr AlgorithmInfo recursive_doubling_info{
    .name = "recursive-doubling",
    .what = "in step i every rank swaps all that it has with the one that differs in bit i",
    .source = sources::thakur,
    .cost =
        "floor(log2(p)) * T(n * (p - 1) / floor(log2(p))) + (ceil(log2(p)) - floor(log2(p))) * "
        "(T(n) + T(p * n))",
    .messages = [](int p, std::size_t) -> std::int64_t {
      const Folding folding{p};
      return 2 * folding.pairs() + folding.messages();
    },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, doublings(p) * m.one_s(0) + (p - 1) * n * m.G);
    }};

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
    .source = sources::thakur,
    .cost = "(p - 1) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds { return (p - 1) * m.one_s(n); }};
}  // namespace nhalf::algorithms::allgather
