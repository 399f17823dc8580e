#pragma once

#include "multicast/bases/torus_order.hpp"

namespace nhalf::multicast {
/// M_u-torus: phases in which lists of destinations are cut into parts of one length.
///
/// The order is that of the S-torus. A holder of m nodes, itself included, cuts them into r + 1
/// parts whose lengths differ by one at most, keeps the first, and sends one worm that visits the
/// heads of the r others, which take over theirs: ceil(log_{r+1} m) phases. A large r makes long
/// paths, r = 1 many phases. Source: see TorusOrder.
inline Schedule mu_torus(const Multicast& multicast) {
  const auto order = TorusOrder(multicast.topology).of(multicast);
  auto schedule = empty_schedule(multicast);
  const auto cuts = static_cast<std::size_t>(multicast.parts) + 1;
  const auto spread = [&](const auto& self, std::size_t first, std::size_t end) -> void {
    const auto count = end - first;
    if (count < 2) return;
    const auto parts = std::min(cuts, count);
    const auto head = [&](std::size_t part) {
      return first + part * (count / parts) + std::min(part, count % parts);
    };
    std::vector<int> worm;
    for (std::size_t part = 0; part < parts; ++part) worm.push_back(order[head(part)]);
    add_worm(schedule, worm);
    for (std::size_t part = 0; part < parts; ++part) self(self, head(part), head(part + 1));
  };
  spread(spread, 0, order.size());
  return schedule;
}

inline const bool enrolled_mu_torus =
    enroll_multicast({.name = "mu-torus",
                      .what = "paths to the heads of parts of one length, then within the parts",
                      .needs_torus = true,
                      .make = mu_torus});
}  // namespace nhalf::multicast
