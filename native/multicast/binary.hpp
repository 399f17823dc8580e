#pragma once

#include "multicast/bases/multicast.hpp"

namespace nhalf::multicast {
/// Binary tree: of the nodes in the order of their numbers from the source on, the one at place i
/// forwards to those at 2 i + 1 and 2 i + 2.
inline Schedule binary(const Multicast& multicast) {
  auto schedule = empty_schedule(multicast);
  const auto order = in_order(multicast);
  for (std::size_t i = 1; i < order.size(); ++i)
    add_forward(schedule, order[(i - 1) / 2], order[i]);
  return schedule;
}

inline const bool enrolled_binary = enroll_multicast(
    {.name = "binary", .what = "a tree in which each node forwards to two", .make = binary});
}  // namespace nhalf::multicast
