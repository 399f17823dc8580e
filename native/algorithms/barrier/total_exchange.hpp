#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::barrier {

/// Every rank tells every other: in step k the rank k further, while it hears the rank k before it.
///
/// p (p - 1) messages in p - 1 steps of o_s + L + o_r, where g <= o_s + L + o_r.
template <Duplex T>
void total_exchange(T& transport) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  for (int distance = 1; distance < ranks; ++distance)
    transport.exchange((rank + distance) % ranks, ConstBytes{}, (rank - distance + ranks) % ranks,
                       Bytes{});
}

inline constexpr AlgorithmInfo total_exchange_info{
    .name = "total-exchange",
    .what = "every rank tells every other, the next one first",
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005: the pairwise exchange, without data",
    .cost = "(p - 1) * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double) -> Seconds { return (p - 1) * m.one_s(0); }};

}  // namespace nhalf::algorithms::barrier
