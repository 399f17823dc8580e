#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::bcast {

/// Down a tree in whose stages every rank that has the message sends it to k - 1 others: the
/// binomial tree for k = 2. The furthest are sent to first, for they have most to forward.
///
/// p - 1 messages. For p = k^r and n bytes r (o_s + nG + L + o_r + (k - 2) max(o_s, g + nG)), where
/// g <= o_s + L + o_r.
template <Transport T>
void k_nomial(T& transport, int root, Bytes data, int radix = 4) {
  const int ranks = transport.size();
  const int place = (transport.rank() - root + ranks) % ranks;
  // A place is written in the digits of the radix: its parent has the last that is not 0 cleared.
  int unit = 1;
  while (unit < ranks && place / unit % radix == 0) unit *= radix;
  if (place > 0) transport.recv((place - place / unit % radix * unit + root) % ranks, data);
  for (unit /= radix; unit > 0; unit /= radix)
    for (int digit = 1; digit < radix && place + digit * unit < ranks; ++digit)
      transport.send((place + digit * unit + root) % ranks, data);
}

inline constexpr AlgorithmInfo k_nomial_info{
    .name = "k-nomial",
    .what = "in each stage every rank that has the message sends it to three that have not",
    .source =
        "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for "
        "All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), "
        "1997: k ports, served in turn",
    .cost = "ceil(log2(p) / 2) * T(n) + floor(log2(p) / 2) * M(n, 2)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (!is_power_of_two(p) || doublings(p) % 2 != 0) return std::nullopt;
      return doublings(p) / 2 * (m.one_s(n) + 2 * m.sends_apart_s(n));
    }};

}  // namespace nhalf::algorithms::bcast
