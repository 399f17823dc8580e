#pragma once

#include "multicast/bases/multicast.hpp"

namespace nhalf::multicast {
/// Serial forwarding: a chain through all destinations by their numbers; d steps.
inline Schedule serial(const Multicast& multicast) {
  auto schedule = empty_schedule(multicast);
  add_worm(schedule, in_order(multicast));
  return schedule;
}

inline const bool enrolled_serial = enroll_multicast(
    {.name = "serial", .what = "each destination forwards to the next, by number", .make = serial});
}  // namespace nhalf::multicast
