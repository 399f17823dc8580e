// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/blocks.hpp"
#include "core/transport.hpp"

namespace nhalf::algorithms::gather {

/// Every rank sends to the root, which takes one message after the other, from the next rank on.
///
/// p - 1 messages. With blocks of n bytes o_s + nG + L + (p - 2) max(o_r, g + nG) + o_r.
template <Transport T>
void linear(T& transport, int root, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  if (transport.rank() != root) return transport.send(root, in);
  for (int distance = 1; distance < ranks; ++distance) {
    const int peer = (root + distance) % ranks;
    transport.recv(peer, block_of(out, peer, in.size()));
  }
  place(in, block_of(out, root, in.size()));
}

}  // namespace nhalf::algorithms::gather
