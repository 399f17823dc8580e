// The root gets the sum of all vectors.
#pragma once

#include "algorithms/bases/folding.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::reduce {
/// The binomial broadcast backwards: ranks, counted from the root, add what the ranks 2^i further
/// send, the furthest first, and send their sum to the rank that would have sent to them.
///
/// p - 1 messages. For p = 2^k and n bytes k (o_s + nG + L + o_r), as long as messages reach a rank
/// no closer together than its gap allows (g <= o_s + L + o_r); adding costs nothing in LogGP.
template <Transport T>
void binomial(T& transport, Scratch& scratch, int root, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int distance_from_root = (transport.rank() - root + ranks) % ranks;
  const bool is_root = distance_from_root == 0;
  int nearest = 1;
  while (nearest <= distance_from_root) nearest *= 2;
  int furthest = nearest;
  while (distance_from_root + furthest < ranks) furthest *= 2;
  const auto room = scratch.bytes(2 * in.size());
  const auto received = room.first(in.size());
  const auto sum = is_root ? out : room.last(in.size());
  place(in, sum);
  for (int distance = furthest / 2; distance >= nearest; distance /= 2) {
    transport.recv((distance_from_root + distance + root) % ranks, received);
    combine(transport, received, sum);
  }
  if (!is_root) transport.send((distance_from_root - nearest / 2 + root) % ranks, sum);
}

inline constexpr AlgorithmInfo binomial_info{
    .name = "binomial",
    .what = "the binomial broadcast backwards, sums on the way",
    .source = sources::thakur,
    .cost = "ceil(log2(p)) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, doublings(p) * m.one_s(n));
    }};

/// Every rank sends to the root, which adds one vector after the other, from the next rank on.
///
/// p - 1 messages. For n bytes o_s + nG + L + (p - 2) max(o_r, g + nG) + o_r; adding costs nothing
/// in LogGP.
template <Transport T>
void linear(T& transport, Scratch& scratch, int root, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  if (transport.rank() != root) return transport.send(root, in);
  const auto received = scratch.bytes(in.size());
  place(in, out);
  for (int distance = 1; distance < ranks; ++distance) {
    transport.recv((root + distance) % ranks, received);
    combine(transport, received, out);
  }
}

inline constexpr AlgorithmInfo linear_info{
    .name = "linear",
    .what = "every rank sends to the root, which adds one vector after the other",
    .source = sources::alexandrov_receiver,
    .cost = "R(n, p - 2) + T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return (p - 2) * m.receives_apart_s(n) + m.one_s(n);
    }};

/// Recursive halving leaves each rank the sum of one piece; pieces are gathered up a binomial tree.
/// 2^k of p ranks act, some of them for two.
///
/// (p - 2^k) + 2^k k + (2^k - 1) messages. For p = 2^k and n bytes in p even pieces, where
/// g <= o_s + L + o_r, 2 k (o_s + L + o_r) + 2 (p - 1) / p nG; adding costs nothing in LogGP.
template <Duplex T>
void rabenseifner(T& transport, Scratch& scratch, int root, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const Folding folding{ranks};
  const int at = (transport.rank() - root + ranks) % ranks;
  const auto rank_at = [=](int position) { return (position + root) % ranks; };
  const auto rank_of = [=](int actor) { return rank_at(folding.place_of(actor)); };
  const auto room = scratch.bytes(2 * in.size());
  const auto received = room.first(in.size());
  const auto sum = at == 0 ? out : room.last(in.size());
  place(in, sum);
  fold(transport, folding, at, rank_at, sum, received);
  if (!folding.acts(at)) return;
  const int actors = folding.actors();
  const int actor = folding.actor_at(at);
  const EvenPieces start_of{in.size(), actors, element_bytes(transport)};
  halve(transport, actors, actor, rank_of, start_of, sum, received);
  for (int held = 1; held < actors; held *= 2) {
    if (actor % (2 * held) != 0)
      return transport.send(rank_of(actor - held), pieces(sum, start_of, actor, actor + held));
    transport.recv(rank_of(actor + held), pieces(sum, start_of, actor + held, actor + 2 * held));
  }
}

inline constexpr AlgorithmInfo rabenseifner_info{
    .name = "rabenseifner",
    .what = "recursive halving, then pieces are gathered up a binomial tree",
    .source = sources::rabenseifner,
    .cost =
        "2 * floor(log2(p)) * T(n * (p - 1) / p / floor(log2(p))) + "
        "(ceil(log2(p)) - floor(log2(p))) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t {
      const Folding folding{p};
      return folding.pairs() + folding.messages() + folding.actors() - 1;
    },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (std::fmod(n, 4 * p) != 0) return std::nullopt;
      return for_powers_of_two(p, 2 * doublings(p) * m.one_s(0) + 2 * n / p * (p - 1) * m.G);
    }};
}  // namespace nhalf::algorithms::reduce
