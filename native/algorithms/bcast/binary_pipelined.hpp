#pragma once

#include "algorithms/bases/parts.hpp"
#include "algorithms/bcast/binary.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::bcast {

/// Each part of the message down a tree of two children each.
///
/// m (p - 1) messages for m = ceil(n / B) parts of B bytes. For p = 2^(d + 1) - 1 at most
/// d (max(o_s, g + BG) + o_s + BG + L + o_r) for the first part and, for each further one, what a
/// rank between root and leaves needs: o_r + 2 max(o_s, g + BG); exact for one part.
template <Transport T>
void binary_pipelined(T& transport, int root, Bytes data,
                      std::size_t part_bytes = default_part_bytes) {
  for_each_part(data, part_bytes, [&](Bytes part) { binary(transport, root, part); });
}

inline constexpr AlgorithmInfo binary_pipelined_info{
    .name = "binary-pipelined",
    .what = "each part of 8 KiB down a tree of two children each",
    .source =
        "J. Pjesivac-Grbovic, T. Angskun, G. Bosilca, G. Fagg, E. Gabriel, J. Dongarra, "
        "Performance Analysis of MPI Collective Operations, Cluster Computing 10(2), 2007",
    .cost =
        "(max(1, n / B) - 1) * M(min(n, B), 2) + ceil(log2(p)) * (M(min(n, B), 1) + "
        "T(min(n, B)))",
    .messages = [](int p, std::size_t n) -> std::int64_t { return parts_of(n) * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return n > default_part_bytes ? std::nullopt : binary_info.time_s(m, p, n);
    }};

}  // namespace nhalf::algorithms::bcast
