#pragma once

#include <cmath>

#include "algorithms/bases/folding.hpp"
#include "contract/algorithm.hpp"

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
    .source = "R. Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004",
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

}  // namespace nhalf::algorithms::allreduce
