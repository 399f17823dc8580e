// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithms/bcast/binomial.hpp"
#include "algorithms/reduce/binomial.hpp"
#include "core/blocks.hpp"
#include "core/transport.hpp"

namespace nhalf::algorithms::allreduce {

/// A reduction to rank 0 and a broadcast of the sum.
///
/// 2 (p - 1) messages. For p = 2^k and n bytes 2 k (o_s + nG + L + o_r) where g <= o_s + L + o_r.
template <Transport T>
void reduce_bcast(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  reduce::binomial(transport, scratch, 0, in, out);
  bcast::binomial(transport, 0, out);
}

}  // namespace nhalf::algorithms::allreduce
