#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::barrier {

/// All tell rank 0, which hears them one after the other.
template <Transport T>
void arrive_at_centre(T& transport) {
  if (transport.rank() > 0) return transport.send(0, ConstBytes{});
  for (int peer = 1; peer < transport.size(); ++peer) transport.recv(peer, Bytes{});
}

/// Rank 0 tells all others, one after the other.
template <Transport T>
void leave_from_centre(T& transport) {
  if (transport.rank() > 0) return transport.recv(0, Bytes{});
  for (int peer = 1; peer < transport.size(); ++peer) transport.send(peer, ConstBytes{});
}

/// All tell rank 0 that they have come, and it answers them.
///
/// 2 (p - 1) messages. 2 (o_s + L + o_r) + (p - 2) (max(o_r, g) + max(o_s, g)).
template <Transport T>
void central(T& transport) {
  arrive_at_centre(transport);
  leave_from_centre(transport);
}

inline constexpr AlgorithmInfo central_info{
    .name = "central",
    .what = "all tell rank 0 that they have come, and it answers them",
    .source =
        "J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on "
        "Shared-Memory Multiprocessors, ACM TOCS 9(1), 1991: the centralised barrier",
    .cost = "R(0, p - 2) + M(0, p - 2) + 2 * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_s = [](const LogGP& m, int p, double) -> Seconds {
      return 2 * m.one_s(0) + (p - 2) * (m.receives_apart_s(0) + m.sends_apart_s(0));
    }};

}  // namespace nhalf::algorithms::barrier
