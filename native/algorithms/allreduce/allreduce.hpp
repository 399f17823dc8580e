// Everybody gets the sum of all vectors.
#pragma once

#include "algorithms/bcast/trees.hpp"
#include "algorithms/reduce/reduce.hpp"

namespace nhalf::algorithms::allreduce {
/// Recursive halving leaves each rank the sum of one piece; recursive doubling brings all pieces to
/// all. Of p ranks 2^k act, some of them for two.
///
/// 2 (p - 2^k) + 2^(k + 1) k messages. For p = 2^k and n bytes in p even pieces, where
/// g <= o_s + L + o_r, 2 k (o_s + L + o_r) + 2 (p - 1) / p nG; adding costs nothing in LogGP.
template <Duplex T>
void rabenseifner(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const Folding folding{transport.size()};
  const int rank = transport.rank();
  const auto rank_at = [](int place) { return place; };
  const auto rank_of = [=](int actor) { return folding.place_of(actor); };
  const auto received = scratch.bytes(in.size());
  place(in, out);
  fold(transport, folding, rank, rank_at, out, received);
  if (folding.acts(rank)) {
    const int actor = folding.actor_at(rank);
    const EvenPieces start_of{in.size(), folding.actors(), element_bytes(transport)};
    halve(transport, folding.actors(), actor, rank_of, start_of, out, received);
    double_up(transport, folding.actors(), actor, rank_of, start_of, out);
  }
  unfold(transport, folding, rank, rank_at, out);
}

inline constexpr AlgorithmInfo rabenseifner_info{
    .name = "rabenseifner",
    .what = "recursive halving, then recursive doubling, of pieces of the vector",
    .source = sources::rabenseifner,
    .cost =
        "2 * floor(log2(p)) * T(n * (p - 1) / p / floor(log2(p))) + 2 * "
        "(ceil(log2(p)) - floor(log2(p))) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t {
      const Folding folding{p};
      return 2 * folding.pairs() + 2 * folding.messages();
    },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (std::fmod(n, 4 * p) != 0) return std::nullopt;
      return for_powers_of_two(p, 2 * doublings(p) * m.one_s(0) + 2 * n / p * (p - 1) * m.G);
    }};

/// In step i every rank swaps its sum with the rank whose number differs in bit i, and adds. Of p
/// ranks 2^k act, some of them for two.
///
/// 2 (p - 2^k) + 2^k k messages. For p = 2^k and n bytes k (o_s + nG + L + o_r), where
/// g <= o_s + L + o_r; adding costs nothing in LogGP.
template <Duplex T>
void recursive_doubling(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const Folding folding{transport.size()};
  const int rank = transport.rank();
  const auto rank_at = [](int place) { return place; };
  const auto received = scratch.bytes(in.size());
  place(in, out);
  fold(transport, folding, rank, rank_at, out, received);
  for (int bit = 1; folding.acts(rank) && bit < folding.actors(); bit *= 2) {
    const int peer = folding.place_of(folding.actor_at(rank) ^ bit);
    transport.exchange(peer, out, peer, received);
    combine(transport, received, out);
  }
  unfold(transport, folding, rank, rank_at, out);
}

inline constexpr AlgorithmInfo recursive_doubling_info{
    .name = "recursive-doubling",
    .what = "in step i every rank swaps its sum with the rank whose number differs in bit i",
    .source = sources::thakur,
    .cost = "(2 * ceil(log2(p)) - floor(log2(p))) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t {
      const Folding folding{p};
      return 2 * folding.pairs() + folding.messages();
    },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, doublings(p) * m.one_s(n));
    }};

/// A reduction to rank 0 and a broadcast of the sum.
///
/// 2 (p - 1) messages. For p = 2^k and n bytes 2 k (o_s + nG + L + o_r) where g <= o_s + L + o_r.
template <Transport T>
void reduce_bcast(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  reduce::binomial(transport, scratch, 0, in, out);
  bcast::binomial(transport, 0, out);
}

inline constexpr AlgorithmInfo reduce_bcast_info{
    .name = "reduce-bcast",
    .what = "a binomial reduction to rank 0 and a binomial broadcast of the sum",
    .source = sources::thakur,
    .cost = "2 * ceil(log2(p)) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, 2 * doublings(p) * m.one_s(n));
    }};

/// Pieces of the vector go round a ring twice: once every rank adds to what passes, and once it
/// keeps what passes.
///
/// 2 p (p - 1) messages. For n bytes in p even pieces 2 (p - 1) (o_s + (n / p) G + L + o_r), where
/// g <= o_s + L + o_r; adding costs nothing in LogGP.
template <Duplex T>
void ring(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  const EvenPieces start_of{in.size(), ranks, element_bytes(transport)};
  const auto piece = [&](int number) {
    const int own = (number + ranks) % ranks;
    return pieces(out, start_of, own, own + 1);
  };
  const auto room = scratch.bytes(in.size());
  place(in, out);
  for (int step = 0; step < ranks - 1; ++step) {
    const auto growing = piece(before - step);
    const auto received = room.first(growing.size());
    transport.exchange(next, piece(rank - step), before, received);
    combine(transport, received, growing);
  }
  for (int step = 0; step < ranks - 1; ++step)
    transport.exchange(next, piece(next - step), before, piece(rank - step));
}

inline constexpr AlgorithmInfo ring_info{
    .name = "ring",
    .what = "pieces of the vector go round a ring twice: to be summed, and to be kept",
    .source = sources::patarasuk,
    .cost = "2 * (p - 1) * T(n / p)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (std::fmod(n, 4 * p) != 0) return std::nullopt;
      return 2 * (p - 1) * m.one_s(n / p);
    }};
}  // namespace nhalf::algorithms::allreduce
