#pragma once

#include "algorithms/bases/folding.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::allgather {

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
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005",
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

}  // namespace nhalf::algorithms::allgather
