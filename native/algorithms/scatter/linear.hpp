#pragma once

#include "contract/algorithm.hpp"

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

inline constexpr AlgorithmInfo linear_info{
    .name = "linear",
    .what = "the root sends to one rank after the other",
    .source =
        "A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, LogGP: Incorporating Long "
        "Messages into the LogP Model, SPAA 1995: one sender, several messages",
    .cost = "M(n, p - 2) + T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return (p - 2) * m.sends_apart_s(n) + m.one_s(n);
    }};

}  // namespace nhalf::algorithms::scatter
