#pragma once

#include "multicast/bases/torus_order.hpp"

namespace nhalf::multicast {
/// S-torus: one worm visits all destinations along a closed walk through the torus; one phase,
/// d forwards one after the other, in single steps where every node is a destination. Source: see
/// TorusOrder.
inline Schedule s_torus(const Multicast& multicast) {
  auto schedule = empty_schedule(multicast);
  add_worm(schedule, TorusOrder(multicast.topology).of(multicast));
  return schedule;
}

inline const bool enrolled_s_torus =
    enroll_multicast({.name = "s-torus",
                      .what = "one path through all destinations by single steps",
                      .needs_torus = true,
                      .make = s_torus});
}  // namespace nhalf::multicast
