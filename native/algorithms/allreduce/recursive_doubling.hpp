#pragma once

#include "algorithms/bases/folding.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::allreduce {

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
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005",
    .cost = "(2 * ceil(log2(p)) - floor(log2(p))) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t {
      const Folding folding{p};
      return 2 * folding.pairs() + folding.messages();
    },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, doublings(p) * m.one_s(n));
    }};

}  // namespace nhalf::algorithms::allreduce
