// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/blocks.hpp"
#include "core/transport.hpp"

namespace nhalf::algorithms::scan {

/// Every rank adds its own numbers to the sum of the ranks before it and sends that on.
///
/// p - 1 messages. For n bytes (p - 1) (o_s + nG + L + o_r); adding costs nothing in LogGP.
template <Transport T>
void linear(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const int rank = transport.rank();
  place(in, out);
  if (rank > 0) {
    const auto before = scratch.bytes(in.size());
    transport.recv(rank - 1, before);
    add_floats(before, out);
  }
  if (rank + 1 < transport.size()) transport.send(rank + 1, out);
}

}  // namespace nhalf::algorithms::scan
