#pragma once

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
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005",
    .cost = "ceil(log2(p)) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, doublings(p) * m.one_s(n));
    }};

}  // namespace nhalf::algorithms::reduce
