// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/blocks.hpp"
#include "core/transport.hpp"

namespace nhalf::algorithms::allgather {

/// In p - 1 steps every rank passes on to the next what it got from the one before, at first its
/// own block.
///
/// p (p - 1) messages. With blocks of n bytes (p - 1) (o_s + nG + L + o_r) where g <= o_s + L +
/// o_r.
template <Duplex T>
void ring(T& transport, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  place(in, block_of(out, rank, in.size()));
  for (int step = 0; step < ranks - 1; ++step) {
    const auto passed = block_of(out, (rank - step + ranks) % ranks, in.size());
    transport.exchange(next, passed, before,
                       block_of(out, (before - step + ranks) % ranks, in.size()));
  }
}

}  // namespace nhalf::algorithms::allgather
