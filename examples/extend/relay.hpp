// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::bcast {

/// The root sends to the next rank alone, which sends to all others.
///
/// p - 1 messages. For p > 2 ranks and n bytes 2 (o_s + nG + L + o_r) + (p - 3) max(o_s, g + nG).
template <Transport T>
void relay(T& transport, int root, Bytes data) {
  const int ranks = transport.size();
  const int place = (transport.rank() - root + ranks) % ranks;
  if (ranks == 1) return;
  if (place == 0) return transport.send((root + 1) % ranks, data);
  transport.recv(place == 1 ? root : (root + 1) % ranks, data);
  for (int further = 2; place == 1 && further < ranks; ++further)
    transport.send((root + further) % ranks, data);
}

inline constexpr AlgorithmInfo relay_info{
    .name = "relay",
    .what = "the root sends to the next rank, and that one to all others",
    .source = "Adding to nhalf",
    .cost = "2 * T(n) + M(n, p - 2)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (p == 2) return m.one_s(n);
      return 2 * m.one_s(n) + (p - 3) * m.sends_apart_s(n);
    }};

}  // namespace nhalf::algorithms::bcast
