// What the messages of a trace took beyond their costs, by the moments at which its steps began and
// ended; and the order in which they came into each rank.
#pragma once

#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "replay/ports.hpp"

namespace nhalf::replay {
/// By route how long a message occupies a port, and by step when it began and ended.
struct Observed {
  Column<const double> occupancy_s;
  Column<const double> begins_s, ends_s;
};

/// By message, as Contention has them.
struct Beyond {
  Column<double> sending_s, receiving_s, way_s;
  Column<Number> before;
};

class Observation {
  /// A receive that takes longer than its own time by more than this share of it has waited, if its
  /// message is due then, or it takes longer by that share of a message's time.
  static constexpr double waited = 0.1;

 public:
  Observation(const Script& script, const Costs& costs, const Observed& observed, Beyond& beyond)
      : script_(script),
        costs_(costs),
        observed_(observed),
        beyond_(beyond),
        sent_s_(static_cast<std::size_t>(script.route.size),
                std::numeric_limits<double>::quiet_NaN()),
        earliest_s_(sent_s_) {}

  void run() {
    send();
    find_order();
    const auto& in_turn_s = in_turn([&](Number before) { return turns_s_[place(before)]; });
    for (Number message = 0; message < script_.route.size; ++message)
      beyond_.way_s[message] = in_turn_s[place(message)] - sent_s_[place(message)];
    observe();
    const auto arrived_s = [&](Number message) {
      return sent_s_[place(message)] + beyond_.way_s[message];
    };
    const auto& usual_s = in_turn(arrived_s);
    for (Number message = 0; message < script_.route.size; ++message)
      beyond_.way_s[message] = arrived_s(message) - usual_s[place(message)];
  }

 private:
  static std::size_t place(Place number) { return static_cast<std::size_t>(number); }

  /// Finds when each message was sent, and could have arrived without those before it; and what its
  /// send took, unless it was within another call.
  void send() {
    Ports ports(script_, costs_, observed_.occupancy_s);
    for (Number actor = 0; actor < script_.rank.size; ++actor)
      for (Place step = script_.first[actor]; step < script_.first[actor + 1]; ++step) {
        const auto message = script_.subject[step];
        const auto form = script_.form[step];
        if (script_.kind[form] != Kind::send || message < 0) continue;
        const auto route = script_.route[message];
        const double begin_s = observed_.begins_s[step];
        sent_s_[place(message)] = begin_s;
        const double delay_s = ports.delay_s(route, begin_s);
        earliest_s_[place(message)] = begin_s + costs_.way_s[route] + delay_s;
        const double measured_s = script_.measured_s[actor][step - script_.first[actor]];
        if (script_.traits[form] & Traits::blocks || measured_s > 0)
          beyond_.sending_s[message] = measured_s - costs_.sending_s[route];
      }
  }

  /// Messages that occupy a port come into their rank in the order of their earliest arrivals.
  void find_order() {
    turns_.resize(earliest_s_.size());
    std::iota(turns_.begin(), turns_.end(), 0);
    std::ranges::stable_sort(turns_, {}, [this](Number message) {
      const double earliest_s = earliest_s_[place(message)];
      return std::isnan(earliest_s) ? std::numeric_limits<double>::infinity() : earliest_s;
    });
    std::unordered_map<Number, Number> last;
    for (const auto message : turns_) {
      const auto route = script_.route[message];
      beyond_.before[message] = -1;
      if (!std::isfinite(earliest_s_[place(message)]) || !(observed_.occupancy_s[route] > 0))
        continue;
      const auto [entry, is_first] = last.try_emplace(script_.target[route], message);
      if (!is_first) beyond_.before[message] = std::exchange(entry->second, message);
    }
  }

  /// When each message arrives, after the one before it, which does so when `arrival_s` says.
  template <class ArrivalS>
  const std::vector<double>& in_turn(ArrivalS arrival_s) {
    turns_s_ = earliest_s_;
    for (const auto message : turns_)
      if (const auto before = beyond_.before[message]; before >= 0)
        turns_s_[place(message)] =
            std::max(turns_s_[place(message)],
                     arrival_s(before) + observed_.occupancy_s[script_.route[message]]);
    return turns_s_;
  }

  /// Looks at each call that completes messages.
  void observe() {
    for (Place step = 0; step < script_.form.size; ++step)
      if (script_.kind[script_.form[step]] == Kind::receive && script_.subject[step] >= 0)
        observe(step, {&script_.subject[step], 1});
    for (Place begin = 0, end = 0; begin < script_.awaiting.size; begin = end) {
      const auto step = script_.awaiting[begin];
      while (end < script_.awaiting.size && script_.awaiting[end] == step) ++end;
      observe(step, {script_.awaited.data + begin, place(end - begin)});
    }
  }

  /// The last of the messages of a call is what it waited for; if it did not wait, what it takes
  /// beyond its receives is its own.
  void observe(Place step, std::span<const Number> messages) {
    const double begin_s = observed_.begins_s[step], end_s = observed_.ends_s[step];
    const auto due_s = [&](Number message) {
      return sent_s_[place(message)] + beyond_.way_s[message];
    };
    const auto most_s = [&](Number message) {
      return std::max(end_s - sent_s_[place(message)], 0.0);
    };
    const auto last = *std::ranges::max_element(messages, {}, due_s);
    double receives_s = 0;
    for (const auto message : messages) receives_s += costs_.receiving_s[script_.route[message]];
    const double more_s = end_s - begin_s - receives_s;
    const bool is_due =
        due_s(last) > begin_s + receives_s || more_s > waited * costs_.way_s[script_.route[last]];
    for (const auto message : messages)
      beyond_.way_s[message] = std::min(beyond_.way_s[message], most_s(message));
    if (is_due && more_s > waited * receives_s)
      beyond_.way_s[last] = most_s(last);
    else
      beyond_.receiving_s[last] = more_s;
  }

  const Script& script_;
  const Costs& costs_;
  const Observed& observed_;
  Beyond& beyond_;
  std::vector<double> sent_s_, earliest_s_, turns_s_;
  /// Messages by their earliest arrivals.
  std::vector<Number> turns_;
};
}  // namespace nhalf::replay
