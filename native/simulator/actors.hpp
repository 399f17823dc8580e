// SPDX-License-Identifier: Apache-2.0
// Simulated ranks that wait for each other beside the simulation.
#pragma once

#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

namespace nhalf::simulator {

/// Who has to wait is suspended.
struct Actors {
  using Place = std::vector<simgrid::s4u::ActorPtr>;

  template <class Ready>
  void until(Place& place, Ready ready) {
    while (!ready()) {
      place.emplace_back(simgrid::s4u::Actor::self());
      simgrid::s4u::this_actor::suspend();
    }
  }
  void wake(Place& place) {
    for (const auto& actor : std::exchange(place, {})) actor->resume();
  }
};

}  // namespace nhalf::simulator
