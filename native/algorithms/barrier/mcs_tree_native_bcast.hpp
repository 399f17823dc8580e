#pragma once

#include "algorithms/barrier/mcs_tree.hpp"
#include "algorithms/bases/wake.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::barrier {

/// Arrival up a tree of four children each, wake-up by the library's own broadcast of a byte.
///
/// p - 1 messages and those of the broadcast, p - 1 in a tree; what it takes is for the library to
/// say, so there is no cost.
template <Collectives T>
void mcs_tree_native_bcast(T& transport) {
  arrive_by_fours(transport);
  wake_by_library(transport);
}

inline constexpr AlgorithmInfo mcs_tree_native_bcast_info{
    .name = "mcs-tree-native-bcast",
    .what = "arrival up a tree of four children each, wake-up by the library's own broadcast",
    .source =
        "J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on "
        "Shared-Memory Multiprocessors, ACM TOCS 9(1), 1991",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); }};

}  // namespace nhalf::algorithms::barrier
