// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/blocks.hpp"
#include "core/transport.hpp"

namespace nhalf::algorithms::scatter {

/// The root sends to one rank after the other, beginning with the next.
///
/// p - 1 messages. With blocks of n bytes (p - 2) max(o_s, g + nG) + o_s + nG + L + o_r.
template <Transport T>
void linear(T& transport, int root, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  if (transport.rank() != root) return transport.recv(root, out);
  for (int distance = 1; distance < ranks; ++distance) {
    const int peer = (root + distance) % ranks;
    transport.send(peer, block_of(in, peer, out.size()));
  }
  place(block_of(in, root, out.size()), out);
}

}  // namespace nhalf::algorithms::scatter
