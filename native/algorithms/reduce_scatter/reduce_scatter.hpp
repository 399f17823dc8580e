// Everybody gets its block of the sum of all vectors.
#pragma once

#include "algorithms/bases/folding.hpp"
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
    .source = sources::thakur,
    .cost = "(p - 1) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds { return (p - 1) * m.one_s(n); }};

/// Two ranks swap the halves that they are not to have of all that they hold, and add; then the
/// same at half the distance. Of p ranks 2^k act, some of them for two.
///
/// 2 (p - 2^k) + 2^k k messages. For p = 2^k and blocks of n bytes k (o_s + L + o_r) + (p - 1) nG,
/// where g <= o_s + L + o_r; adding costs nothing in LogGP.
template <Duplex T>
void recursive_halving(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const Folding folding{transport.size()};
  const int rank = transport.rank();
  const auto rank_at = [](int place) { return place; };
  const auto rank_of = [=](int actor) { return folding.place_of(actor); };
  const auto start_of = [=, block_bytes = out.size()](int actor) {
    return static_cast<std::size_t>(folding.place_of(actor)) * block_bytes;
  };
  const auto room = scratch.bytes(2 * in.size());
  const auto received = room.first(in.size());
  const auto sum = room.last(in.size());
  place(in, sum);
  fold(transport, folding, rank, rank_at, sum, received);
  if (!folding.acts(rank)) return transport.recv(rank - 1, out);
  halve(transport, folding.actors(), folding.actor_at(rank), rank_of, start_of, sum, received);
  if (folding.is_paired(rank)) transport.send(rank + 1, block_of(sum, rank + 1, out.size()));
  place(block_of(sum, rank, out.size()), out);
}

inline constexpr AlgorithmInfo recursive_halving_info{
    .name = "recursive-halving",
    .what = "pairs swap the halves that they are not to have; then the same at half the distance",
    .source = sources::thakur,
    .cost =
        "floor(log2(p)) * T(n * (p - 1) / floor(log2(p))) + (ceil(log2(p)) - floor(log2(p))) * "
        "(T(p * n) + T(n))",
    .messages = [](int p, std::size_t) -> std::int64_t {
      const Folding folding{p};
      return 2 * folding.pairs() + folding.messages();
    },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, doublings(p) * m.one_s(0) + (p - 1) * n * m.G);
    }};

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
    .source = sources::patarasuk,
    .cost = "(p - 1) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds { return (p - 1) * m.one_s(n); }};
}  // namespace nhalf::algorithms::reduce_scatter
