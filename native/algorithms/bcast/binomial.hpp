#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::bcast {

/// Recursive doubling: in stage i ranks 0 to 2^i - 1, counted from the root, send to the rank that
/// is 2^i further.
///
/// p - 1 messages. For p = 2^k and n bytes k (o_s + nG + L + o_r), as long as messages leave a rank
/// no further apart than one takes (g <= o_s + L + o_r).
template <Transport T>
void binomial(T& transport, int root, Bytes data) {
  const int ranks = transport.size();
  const int place = (transport.rank() - root + ranks) % ranks;
  int distance = 1;
  while (distance <= place) distance *= 2;
  if (place > 0) transport.recv((place - distance / 2 + root) % ranks, data);
  for (; place + distance < ranks; distance *= 2)
    transport.send((place + distance + root) % ranks, data);
}

inline constexpr AlgorithmInfo binomial_info{
    .name = "binomial",
    .what = "in each stage every rank that has the message sends it to one that has not",
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005",
    .cost = "ceil(log2(p)) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, doublings(p) * m.one_s(n));
    }};

}  // namespace nhalf::algorithms::bcast
