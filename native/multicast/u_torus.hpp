#pragma once

#include "multicast/bases/multicast.hpp"

namespace nhalf::multicast {
/// U-torus: a binomial tree whose messages of one step keep out of each other's way.
///
/// The source and its destinations, sorted by how many steps up they are from it (the dimension
/// that is routed first counts most), are a chain. Who holds a piece of it sends to the first node
/// of its second half, which takes that half over; ceil(log2 m) steps for m nodes. Where routing is
/// by dimension, no channel carries more than two messages of a step: two virtual channels do, on
/// plain links some wait (D. Robinson, P. McKinley, B. Cheng, "Optimal multicast communication in
/// wormhole-routed torus networks", IEEE Transactions on Parallel and Distributed Systems 6(10),
/// 1995).
inline Schedule u_torus(const Multicast& multicast) {
  auto chain = in_order(multicast);
  std::ranges::sort(chain, {},
                    [&](int node) { return multicast.topology.relative(multicast.source, node); });
  auto schedule = empty_schedule(multicast);
  const auto spread = [&](const auto& self, std::size_t first, std::size_t end) -> void {
    while (end - first > 1) {
      const auto middle = first + (end - first + 1) / 2;
      add_forward(schedule, chain[first], chain[middle]);
      self(self, middle, end);
      end = middle;
    }
  };
  spread(spread, 0, chain.size());
  return schedule;
}

inline const bool enrolled_u_torus =
    enroll_multicast({.name = "u-torus",
                      .what = "a binomial tree along the dimensions, one message after the other",
                      .needs_torus = true,
                      .make = u_torus});
}  // namespace nhalf::multicast
