// How a rank that knows that all have come tells the others.
#pragma once

#include <algorithm>
#include <cstddef>

#include "contract/collectives.hpp"

namespace nhalf {

/// By the transport's own broadcast from rank 0. It carries a byte: libraries return at once from a
/// broadcast of nothing, which wakes up nobody.
template <Collectives T>
void wake_by_library(T& transport) {
  std::byte flag{};
  transport.bcast(0, Bytes(&flag, 1));
}

/// Down a tree of two children each, 2 i + 1 and 2 i + 2.
template <Transport T>
void wake_by_twos(T& transport) {
  const int rank = transport.rank();
  if (rank > 0) transport.recv((rank - 1) / 2, Bytes{});
  const int end = std::min(transport.size(), 2 * rank + 3);
  for (int child = 2 * rank + 1; child < end; ++child) transport.send(child, ConstBytes{});
}

}  // namespace nhalf
