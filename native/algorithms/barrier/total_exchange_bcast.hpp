#pragma once

#include "algorithms/bcast/binomial.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::barrier {

/// Every rank tells all others by a binomial broadcast of nothing, rank 0 first.
///
/// p (p - 1) messages. At most p ceil(log2 p) (o_s + L + o_r), where g <= o_s + L + o_r; less as
/// broadcasts overlap.
template <Transport T>
void total_exchange_bcast(T& transport) {
  for (int root = 0; root < transport.size(); ++root) bcast::binomial(transport, root, Bytes{});
}

inline constexpr AlgorithmInfo total_exchange_bcast_info{
    .name = "total-exchange-bcast",
    .what = "every rank tells all others by a binomial broadcast, rank 0 first",
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005: the binomial broadcast, without data",
    .cost = "p * ceil(log2(p)) * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_at_most_s = [](const LogGP& m, int p, double) -> Seconds {
      return p * doublings(p) * m.one_s(0);
    }};

}  // namespace nhalf::algorithms::barrier
