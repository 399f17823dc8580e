#pragma once

#include "algorithms/bases/folding.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::reduce_scatter {

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
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005",
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

}  // namespace nhalf::algorithms::reduce_scatter
