// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/transport.hpp"

namespace nhalf::algorithms::bcast {

/// Recursive doubling: in stage i ranks 0 to 2^i - 1, counted from the root, send to the rank that
/// is 2^i further.
///
/// p - 1 messages. For p = 2^k and n bytes k (o_s + nG + L + o_r), as long as messages leave a rank
/// no further apart than one takes (g <= o_s + L + o_r).
template <Transport T>
void binomial(T& transport, int root, Bytes data) {
  const int ranks = transport.size();
  const int place = (transport.rank() - root + ranks) % ranks;
  int distance = 1;
  while (distance <= place) distance *= 2;
  if (place > 0) transport.recv((place - distance / 2 + root) % ranks, data);
  for (; place + distance < ranks; distance *= 2)
    transport.send((place + distance + root) % ranks, data);
}

}  // namespace nhalf::algorithms::bcast
