#pragma once

#include <cstddef>

#include "contract/algorithm.hpp"
#include "contract/collectives.hpp"

namespace nhalf::algorithms::barrier {

/// Every rank tells all others by the library's own broadcast of a byte, rank 0 first.
///
/// The messages of p broadcasts, p - 1 each in a tree; what they take is for the library to say, so
/// there is no cost.
template <Collectives T>
void total_exchange_native_bcast(T& transport) {
  // One byte: libraries return at once from a broadcast of nothing.
  std::byte flag{};
  for (int root = 0; root < transport.size(); ++root) transport.bcast(root, Bytes(&flag, 1));
}

inline constexpr AlgorithmInfo total_exchange_native_bcast_info{
    .name = "total-exchange-native-bcast",
    .what = "every rank tells all others by the library's own broadcast, rank 0 first",
    .source =
        "R. Krishnamurthy, Performance of Barriers and NAS Parallel Benchmarks on the Intel "
        "Clusters, 1998: total exchange by broadcasts",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); }};

}  // namespace nhalf::algorithms::barrier
