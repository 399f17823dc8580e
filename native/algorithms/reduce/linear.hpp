#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::reduce {

/// Every rank sends to the root, which adds one vector after the other, from the next rank on.
///
/// p - 1 messages. For n bytes o_s + nG + L + (p - 2) max(o_r, g + nG) + o_r; adding costs nothing
/// in LogGP.
template <Transport T>
void linear(T& transport, Scratch& scratch, int root, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  if (transport.rank() != root) return transport.send(root, in);
  const auto received = scratch.bytes(in.size());
  place(in, out);
  for (int distance = 1; distance < ranks; ++distance) {
    transport.recv((root + distance) % ranks, received);
    combine(transport, received, out);
  }
}

inline constexpr AlgorithmInfo linear_info{
    .name = "linear",
    .what = "every rank sends to the root, which adds one vector after the other",
    .source =
        "A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, LogGP: Incorporating Long "
        "Messages into the LogP Model, SPAA 1995: one receiver, several messages",
    .cost = "R(n, p - 2) + T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return (p - 2) * m.receives_apart_s(n) + m.one_s(n);
    }};

}  // namespace nhalf::algorithms::reduce
