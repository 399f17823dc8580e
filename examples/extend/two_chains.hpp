// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "multicast/bases/multicast.hpp"

namespace nhalf::multicast {

/// Two chains from the source: nodes at odd places in the order of their numbers, and at even ones.
inline Schedule two_chains(const Multicast& multicast) {
  auto schedule = empty_schedule(multicast);
  const auto order = in_order(multicast);
  for (std::size_t i = 1; i < order.size(); ++i)
    add_forward(schedule, order[i < 2 ? 0 : i - 2], order[i]);
  return schedule;
}

inline const bool enrolled_two_chains = enroll_multicast(
    {.name = "two-chains", .what = "two chains from the source", .make = two_chains});

}  // namespace nhalf::multicast
