#pragma once

#include "contract/algorithm.hpp"

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
    combine(transport, before, out);
  }
  if (rank + 1 < transport.size()) transport.send(rank + 1, out);
}

inline constexpr AlgorithmInfo linear_info{
    .name = "linear",
    .what = "every rank adds its numbers to the sum of those before it and sends that on",
    .source =
        "A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, LogGP: Incorporating Long "
        "Messages into the LogP Model, SPAA 1995: messages one after the other",
    .cost = "(p - 1) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds { return (p - 1) * m.one_s(n); },
    .keeps_order = true};
}  // namespace nhalf::algorithms::scan
