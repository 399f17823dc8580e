// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/blocks.hpp"
#include "core/transport.hpp"

namespace nhalf::algorithms::alltoall {

/// One rank's blocks for or from each rank, which may differ in size.
template <class Span, class Size, class Offset>
struct Blocks {
  Span all;
  Size size_of;
  Offset offset_of;

  Span operator[](int rank) const { return all.subspan(offset_of(rank), size_of(rank)); }
};
template <class Span, class Size, class Offset>
Blocks(Span, Size, Offset) -> Blocks<Span, Size, Offset>;

/// Every rank starts its sends, to the next rank first, and then receives, from the rank before
/// first; empty blocks are no messages. At most `window` sends are under way, so that their
/// requests need no memory of their own. `out` and `in` do not overlap.
///
/// p (p - 1) messages where no block is empty. For p <= window + 1 and blocks of n bytes
/// (p - 2) max(o_s, g + nG) + o_s + max(nG + L + o_r, (p - 1) o_r) where o_r <= max(o_s, g + nG).
template <NonBlocking T, class In, class Out>
void windowed(T& transport, const In& in, const Out& out) {
  constexpr int window = 64;
  std::array<typename T::Request, window> sends;
  const int ranks = transport.size();
  const int rank = transport.rank();
  place(in[rank], out[rank]);
  for (int first = 1; first < ranks; first += window) {
    const int end = std::min(ranks, first + window);
    std::size_t started = 0;
    for (int distance = first; distance < end; ++distance) {
      const int peer = (rank + distance) % ranks;
      if (!in[peer].empty()) sends[started++] = transport.isend(peer, in[peer]);
    }
    for (int distance = first; distance < end; ++distance) {
      const int peer = (rank - distance + ranks) % ranks;
      if (!out[peer].empty()) transport.recv(peer, out[peer]);
    }
    for (std::size_t i = 0; i < started; ++i) transport.wait(sends[i]);
  }
}

}  // namespace nhalf::algorithms::alltoall
