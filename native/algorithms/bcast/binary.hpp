#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::bcast {

/// A tree of two children each: rank i, counted from the root, sends to 2 i + 1 and 2 i + 2.
///
/// p - 1 messages. For p = 2^(d + 1) - 1 and n bytes d (max(o_s, g + nG) + o_s + nG + L + o_r).
template <Transport T>
void binary(T& transport, int root, Bytes data) {
  const int ranks = transport.size();
  const int place = (transport.rank() - root + ranks) % ranks;
  if (place > 0) transport.recv(((place - 1) / 2 + root) % ranks, data);
  for (int child = 2 * place + 1; child <= 2 * place + 2 && child < ranks; ++child)
    transport.send((child + root) % ranks, data);
}

inline constexpr AlgorithmInfo binary_info{
    .name = "binary",
    .what = "down a tree of two children each",
    .source =
        "J. Pjesivac-Grbovic, T. Angskun, G. Bosilca, G. Fagg, E. Gabriel, J. Dongarra, "
        "Performance Analysis of MPI Collective Operations, Cluster Computing 10(2), 2007",
    .cost = "ceil(log2(p)) * (M(n, 1) + T(n))",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (!is_power_of_two(p + 1)) return std::nullopt;
      return (doublings(p) - 1) * (m.sends_apart_s(n) + m.one_s(n));
    }};

}  // namespace nhalf::algorithms::bcast
