// Who waits for what: each actor for one message or operation at most.
#pragma once

#include "replay/rounds.hpp"

namespace nhalf::replay {
class Waiters {
  static constexpr Number nobody = -1;

 public:
  Waiters(Place things, Number actors)
      : first_(static_cast<std::size_t>(things), nobody),
        next_(static_cast<std::size_t>(actors), nobody) {}

  void add(Place thing, Number actor) {
    auto& first = first_[static_cast<std::size_t>(thing)];
    next_[static_cast<std::size_t>(actor)] = first;
    first = actor;
  }

  void wake(Place thing, Rounds& rounds) {
    auto& first = first_[static_cast<std::size_t>(thing)];
    while (first != nobody) {
      rounds.wake(first);
      first = next_[static_cast<std::size_t>(first)];
    }
  }

  void remove(Place thing, Number actor) {
    Number* link = &first_[static_cast<std::size_t>(thing)];
    while (*link != nobody && *link != actor) link = &next_[static_cast<std::size_t>(*link)];
    if (*link == actor) *link = next_[static_cast<std::size_t>(actor)];
  }

 private:
  std::vector<Number> first_, next_;
};
}  // namespace nhalf::replay
