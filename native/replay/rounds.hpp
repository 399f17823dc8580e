// Who can go on, in rounds: in each those who can take their turns by number, whoever can go on
// since then in this round if his turn is to come, else in the next one. So what threads of a rank
// share is taken in an order that depends on nothing else.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "replay/columns.hpp"

namespace nhalf::replay {
class Rounds {
 public:
  /// Everybody can go on at first.
  explicit Rounds(Number actors) {
    now_.reserve(static_cast<std::size_t>(actors));
    next_.reserve(static_cast<std::size_t>(actors));
    for (Number actor = 0; actor < actors; ++actor) now_.push_back(actor);
  }

  /// Takes who is next into `actor`; false if nobody can go on.
  bool take(Number& actor) {
    if (now_.empty()) std::swap(now_, next_);
    if (now_.empty()) {
      turn_ = -1;
      return false;
    }
    std::ranges::pop_heap(now_, std::greater{});
    actor = turn_ = now_.back();
    now_.pop_back();
    return true;
  }

  void wake(Number actor) {
    auto& round = actor > turn_ ? now_ : next_;
    round.push_back(actor);
    std::ranges::push_heap(round, std::greater{});
  }

 private:
  std::vector<Number> now_, next_;
  Number turn_ = -1;
};
}  // namespace nhalf::replay
