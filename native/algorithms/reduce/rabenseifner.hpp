#pragma once

#include <cmath>

#include "algorithms/bases/folding.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::reduce {

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
    .source = "R. Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004",
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
