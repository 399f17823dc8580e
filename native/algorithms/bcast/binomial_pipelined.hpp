#pragma once

#include <algorithm>

#include "algorithms/bases/parts.hpp"
#include "algorithms/bcast/binomial.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::bcast {

/// A binomial broadcast of each part of the message: ranks pass a part on before they get the next.
///
/// m (p - 1) messages for m = ceil(n / B) parts of B bytes. At most m ceil(log2 p)
/// (o_s + BG + L + o_r), where g <= o_s + L + o_r; exactly that for p = 2^k and one part.
template <Transport T>
void binomial_pipelined(T& transport, int root, Bytes data,
                        std::size_t part_bytes = default_part_bytes) {
  for_each_part(data, part_bytes, [&](Bytes part) { binomial(transport, root, part); });
}

inline constexpr AlgorithmInfo binomial_pipelined_info{
    .name = "binomial-pipelined",
    .what = "a binomial broadcast of each part of 8 KiB",
    .source =
        "S. Johnsson, C.-T. Ho, Optimum Broadcasting and Personalized Communication in "
        "Hypercubes, IEEE Transactions on Computers 38(9), 1989",
    .cost = "max(1, n / B) * ceil(log2(p)) * T(min(n, B))",
    .messages = [](int p, std::size_t n) -> std::int64_t { return parts_of(n) * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (n > default_part_bytes) return std::nullopt;
      return for_powers_of_two(p, doublings(p) * m.one_s(n));
    },
    .time_at_most_s = [](const LogGP& m, int p, double n) -> Seconds {
      const auto parts = static_cast<double>(parts_of(static_cast<std::size_t>(n)));
      return parts * doublings(p) * m.one_s(std::min<double>(n, default_part_bytes));
    }};

}  // namespace nhalf::algorithms::bcast
