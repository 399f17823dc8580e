#pragma once

#include "multicast/bases/multicast.hpp"

namespace nhalf::multicast {
/// Binomial tree by the numbers of nodes: in step j those at places 0 to 2^j - 1, counted from the
/// source, send to the one 2^j further; ceil(log2 m) steps for m nodes.
inline Schedule binomial(const Multicast& multicast) {
  auto schedule = empty_schedule(multicast);
  const auto order = in_order(multicast);
  for (std::size_t holders = 1; holders < order.size(); holders *= 2)
    for (std::size_t i = 0; i < holders && i + holders < order.size(); ++i)
      add_forward(schedule, order[i], order[i + holders]);
  return schedule;
}

inline const bool enrolled_binomial =
    enroll_multicast({.name = "binomial",
                      .what = "in each step every node that has the message sends it on",
                      .make = binomial});
}  // namespace nhalf::multicast
