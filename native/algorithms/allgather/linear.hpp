#pragma once

#include "algorithms/bcast/linear.hpp"
#include "algorithms/gather/linear.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::allgather {

/// All send to rank 0, which sends all blocks to one rank after the other.
///
/// 2 (p - 1) messages. With blocks of n bytes o_s + nG + L + o_r + (p - 2) max(o_r, g + nG) and
/// then (p - 2) max(o_s, g + pnG) + o_s + pnG + L + o_r.
template <Transport T>
void linear(T& transport, ConstBytes in, Bytes out) {
  gather::linear(transport, 0, in, out);
  bcast::linear(transport, 0, out);
}

inline constexpr AlgorithmInfo linear_info{
    .name = "linear",
    .what = "all send to rank 0, which sends all blocks to one rank after the other",
    .source =
        "A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, LogGP: Incorporating Long "
        "Messages into the LogP Model, SPAA 1995: one receiver, then one sender",
    .cost = "R(n, p - 2) + T(n) + M(p * n, p - 2) + T(p * n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return (p - 2) * (m.receives_apart_s(n) + m.sends_apart_s(p * n)) + m.one_s(n) +
             m.one_s(p * n);
    }};

}  // namespace nhalf::algorithms::allgather
