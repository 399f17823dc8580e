#pragma once

#include "algorithms/barrier/central.hpp"
#include "algorithms/bases/wake.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::barrier {

/// All tell rank 0 that they have come; it answers with the library's own broadcast of a byte.
///
/// p - 1 messages and those of the broadcast, p - 1 in a tree; what it takes is for the library to
/// say, so there is no cost.
template <Collectives T>
void central_native_bcast(T& transport) {
  arrive_at_centre(transport);
  wake_by_library(transport);
}

inline constexpr AlgorithmInfo central_native_bcast_info{
    .name = "central-native-bcast",
    .what = "all tell rank 0 that they have come; the library's own broadcast wakes them up",
    .source =
        "J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on "
        "Shared-Memory Multiprocessors, ACM TOCS 9(1), 1991: the centralised barrier",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); }};

}  // namespace nhalf::algorithms::barrier
