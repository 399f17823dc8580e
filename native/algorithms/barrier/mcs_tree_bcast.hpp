#pragma once

#include "algorithms/barrier/mcs_tree.hpp"
#include "algorithms/bcast/binomial.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::barrier {

/// Arrival up a tree of four children each, wake-up by a binomial broadcast of nothing.
///
/// 2 (p - 1) messages. At most (ceil(log4(3 p + 1)) - 1) (o_s + L + o_r + 3 max(o_r, g)) to arrive,
/// and ceil(log2 p) (o_s + L + o_r) to wake up, where g <= o_s + L + o_r.
template <Transport T>
void mcs_tree_bcast(T& transport) {
  arrive_by_fours(transport);
  bcast::binomial(transport, 0, Bytes{});
}

inline constexpr AlgorithmInfo mcs_tree_bcast_info{
    .name = "mcs-tree-bcast",
    .what = "arrival up a tree of four children each, wake-up by a binomial broadcast",
    .source =
        "J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on "
        "Shared-Memory Multiprocessors, ACM TOCS 9(1), 1991",
    .cost =
        "(ceil(log2(3 * p + 1) / 2) - 1) * (T(0) + R(0, min(3, p - 2))) + "
        "ceil(log2(p)) * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_at_most_s = [](const LogGP& m, int p, double) -> Seconds {
      return arrival_at_most_s(m, p) + doublings(p) * m.one_s(0);
    }};

}  // namespace nhalf::algorithms::barrier
