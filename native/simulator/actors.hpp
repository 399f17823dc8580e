// Lets simulated ranks wait for each other without simulated messages.
#pragma once

#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

namespace nhalf::simulator {
/// Suspends actors until a condition holds.
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
