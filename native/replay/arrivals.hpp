// When messages arrive, once that is known. With contention they leave a rank one after the other,
// and come into one in the order in which they came when the program was traced: a replay does not
// know a later one yet. That order has no circle, since every message waits for earlier ones only.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "replay/columns.hpp"
#include "replay/ports.hpp"

namespace nhalf::replay {
// Who can go on, in rounds: in each those who can take their turns by number, whoever can go on
// since then in this round if his turn is to come, else in the next one. So what threads of a rank
// share is taken in an order that depends on nothing else.
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

// Who waits for what: each actor for one message or operation at most.
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

class Arrivals {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

 public:
  Arrivals(const Script& script, const Costs& costs, const Contention& contention, Rounds& rounds)
      : script_(script),
        costs_(costs),
        contention_(contention),
        rounds_(rounds),
        waiters_(script.route.size, static_cast<Number>(script.rank.size)),
        ports_(script, costs, contention.occupancy_s),
        arrived_s_(static_cast<std::size_t>(script.route.size), unknown) {
    if (contention.before.empty()) return;
    earliest_s_.assign(arrived_s_.size(), unknown);
    after_.assign(arrived_s_.size(), -1);
    for (Number message = 0; message < script.route.size; ++message)
      if (contention.before[message] >= 0)
        after_[static_cast<std::size_t>(contention.before[message])] = message;
  }

  [[nodiscard]] bool is_known(Number message) const { return !std::isnan(at_s(message)); }

  [[nodiscard]] double at_s(Number message) const {
    return arrived_s_[static_cast<std::size_t>(message)];
  }

  Waiters& waiters() { return waiters_; }

  /// A message that waits for nothing is sent.
  void send(Number message, double now_s) {
    const auto route = script_.route[message];
    const double arrival_s = now_s + costs_.way_s[route];
    if (after_.empty()) {
      arrive(message, arrival_s);
    } else {
      earliest_s_[static_cast<std::size_t>(message)] = arrival_s + ports_.delay_s(route, now_s);
      come_in(message);
    }
  }

  /// A message arrives at a moment, and what comes in after it may do so, too.
  void arrive(Number message, double moment_s) {
    arrived_s_[static_cast<std::size_t>(message)] = moment_s;
    waiters_.wake(message, rounds_);
    if (!after_.empty()) come_in(after_[static_cast<std::size_t>(message)]);
  }

  /// Messages in the order of arrival, and of their numbers here where they arrive together.
  std::span<const Number> in_order(std::span<const Number> messages) {
    if (messages.size() < 2) return messages;
    sorted_.clear();
    for (std::size_t place = 0; place < messages.size(); ++place)
      sorted_.emplace_back(at_s(messages[place]), place);
    // Both ways to sort stay within their bounds whatever comparisons say, even of what is no time.
    if (sorted_.size() <= few_messages) {
      for (std::size_t end = 1; end < sorted_.size(); ++end)
        for (auto at = end; at > 0 && sorted_[at] < sorted_[at - 1]; --at)
          std::swap(sorted_[at], sorted_[at - 1]);
    } else {
      std::ranges::make_heap(sorted_);
      std::ranges::sort_heap(sorted_);
    }
    in_order_.clear();
    for (const auto& [arrived_s, place] : sorted_) in_order_.push_back(messages[place]);
    return in_order_;
  }

 private:
  static constexpr std::size_t few_messages = 8;

  /// Lets messages arrive, one after the other, as far as they were sent.
  void come_in(Number message) {
    while (message >= 0) {
      const auto place = static_cast<std::size_t>(message);
      double moment_s = earliest_s_[place];
      if (std::isnan(moment_s)) return;
      if (const auto before = contention_.before[message]; before >= 0) {
        if (!is_known(before)) return;
        const double occupancy_s = contention_.occupancy_s[script_.route[message]];
        moment_s = std::max(moment_s, at_s(before) + occupancy_s);
      }
      earliest_s_[place] = unknown;
      arrived_s_[place] = moment_s + contention_.way_s[message];
      waiters_.wake(message, rounds_);
      message = after_[place];
    }
  }

  const Script& script_;
  const Costs& costs_;
  const Contention& contention_;
  Rounds& rounds_;
  Waiters waiters_;
  Ports ports_;
  std::vector<double> arrived_s_;
  /// When a message would arrive without the one before it, and which comes after it.
  std::vector<double> earliest_s_;
  std::vector<Number> after_;
  std::vector<Number> in_order_;
  std::vector<std::pair<double, std::size_t>> sorted_;
};
}  // namespace nhalf::replay
