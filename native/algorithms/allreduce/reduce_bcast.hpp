#pragma once

#include "algorithms/bcast/binomial.hpp"
#include "algorithms/reduce/binomial.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::allreduce {

/// A reduction to rank 0 and a broadcast of the sum.
///
/// 2 (p - 1) messages. For p = 2^k and n bytes 2 k (o_s + nG + L + o_r) where g <= o_s + L + o_r.
template <Transport T>
void reduce_bcast(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  reduce::binomial(transport, scratch, 0, in, out);
  bcast::binomial(transport, 0, out);
}

inline constexpr AlgorithmInfo reduce_bcast_info{
    .name = "reduce-bcast",
    .what = "a binomial reduction to rank 0 and a binomial broadcast of the sum",
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005",
    .cost = "2 * ceil(log2(p)) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, 2 * doublings(p) * m.one_s(n));
    }};

}  // namespace nhalf::algorithms::allreduce
