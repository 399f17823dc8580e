#pragma once

#include "multicast/bases/multicast.hpp"

namespace nhalf::multicast {
/// Separate addressing: the source sends to one destination after the other; d steps.
inline Schedule separate(const Multicast& multicast) {
  auto schedule = empty_schedule(multicast);
  for (const int node : in_order(multicast))
    if (node != multicast.source) add_forward(schedule, multicast.source, node);
  return schedule;
}

inline const bool enrolled_separate =
    enroll_multicast({.name = "separate",
                      .what = "the source sends to one destination after the other",
                      .make = separate});
}  // namespace nhalf::multicast
