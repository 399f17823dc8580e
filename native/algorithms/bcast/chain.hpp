#pragma once

#include <algorithm>

#include "algorithms/bases/parts.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::bcast {

/// Each part of the message from rank to rank, from the root to the one before it.
///
/// m (p - 1) messages for m = n / B whole parts of B bytes. For p > 2
/// (p - 1) (o_s + BG + L + o_r) + (m - 1) max(o_r + o_s, g + BG).
template <Transport T>
void chain(T& transport, int root, Bytes data, std::size_t part_bytes = default_part_bytes) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const int next = (rank + 1) % ranks;
  for_each_part(data, part_bytes, [&](Bytes part) {
    if (rank != root) transport.recv((rank + ranks - 1) % ranks, part);
    if (next != root) transport.send(next, part);
  });
}

inline constexpr AlgorithmInfo chain_info{
    .name = "chain",
    .what = "each part of 8 KiB from rank to rank",
    .source =
        "J. Pjesivac-Grbovic, T. Angskun, G. Bosilca, G. Fagg, E. Gabriel, J. Dongarra, "
        "Performance Analysis of MPI Collective Operations, Cluster Computing 10(2), 2007",
    .cost = "(p - 1) * T(min(n, B)) + (max(1, n / B) - 1) * max(M(min(n, B), 1), R(min(n, B), 1))",
    .messages = [](int p, std::size_t n) -> std::int64_t { return parts_of(n) * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      const double part_bytes = std::min<double>(n, default_part_bytes);
      const auto parts = static_cast<double>(parts_of(static_cast<std::size_t>(n)));
      if (parts * part_bytes != n || p == 2) return std::nullopt;
      return (p - 1) * m.one_s(part_bytes) +
             (parts - 1) * std::max(m.o_r + m.o_s, m.g + part_bytes * m.G);
    }};

}  // namespace nhalf::algorithms::bcast
