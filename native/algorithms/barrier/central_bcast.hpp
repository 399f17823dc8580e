#pragma once

#include "algorithms/barrier/central.hpp"
#include "algorithms/bcast/binomial.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::barrier {

/// All tell rank 0 that they have come; it answers with a binomial broadcast of nothing.
///
/// 2 (p - 1) messages. For p = 2^k (k + 1) (o_s + L + o_r) + (p - 2) max(o_r, g), where
/// g <= o_s + L + o_r.
template <Transport T>
void central_bcast(T& transport) {
  arrive_at_centre(transport);
  bcast::binomial(transport, 0, Bytes{});
}

inline constexpr AlgorithmInfo central_bcast_info{
    .name = "central-bcast",
    .what = "all tell rank 0 that they have come; it answers with a binomial broadcast",
    .source =
        "J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on "
        "Shared-Memory Multiprocessors, ACM TOCS 9(1), 1991: the centralised barrier",
    .cost = "R(0, p - 2) + (ceil(log2(p)) + 1) * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_s = [](const LogGP& m, int p, double) -> Seconds {
      return for_powers_of_two(p,
                               (doublings(p) + 1) * m.one_s(0) + (p - 2) * m.receives_apart_s(0));
    }};

}  // namespace nhalf::algorithms::barrier
