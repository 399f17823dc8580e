// A thread of a rank while its calls are replayed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "replay/arrivals.hpp"
#include "replay/columns.hpp"

namespace nhalf::replay {
// Collective operations while ranks arrive.
class Operations {
  static constexpr double never = -std::numeric_limits<double>::infinity();

  struct Meeting {
    double latest_s = never;
    std::optional<double> root_s;
    Number missing = 0;
  };

 public:
  Operations(const Script& script, Rounds& rounds)
      : script_(script),
        rounds_(rounds),
        waiters_(script.operation.size, static_cast<Number>(script.rank.size)),
        meetings_(static_cast<std::size_t>(script.operation.size)) {
    for (Place part = 0; part < script.operation.size; ++part) ++meeting(part).missing;
  }

  /// A rank comes to its part.
  void arrive(Number part, double now_s) {
    auto& own = meeting(part);
    own.latest_s = std::max(own.latest_s, now_s);
    --own.missing;
    if (script_.is_root[part]) own.root_s = now_s;
    if (script_.is_root[part] || own.missing == 0) waiters_.wake(script_.operation[part], rounds_);
  }

  /// Returns when the last of those arrived whom a rank has to wait for; nothing before that.
  [[nodiscard]] std::optional<double> last_s(Number part) {
    const auto& own = meeting(part);
    switch (script_.role[part]) {
      case Role::nobody:
        return never;
      case Role::root:
        return own.root_s;
      default:
        return own.missing == 0 ? std::optional(own.latest_s) : std::nullopt;
    }
  }

  Waiters& waiters() { return waiters_; }

 private:
  Meeting& meeting(Place part) {
    return meetings_[static_cast<std::size_t>(script_.operation[part])];
  }

  const Script& script_;
  Rounds& rounds_;
  Waiters waiters_;
  std::vector<Meeting> meetings_;
};

// When an actor was inside MPI, where its library moves large messages.
class CallTimes {
 public:
  void add(double begin_s, double end_s) {
    begins_s_.push_back(begin_s);
    ends_s_.push_back(end_s);
  }

  /// Returns the first moment inside MPI from one on, of an actor whose clock stands at `now_s`.
  /// Who has more to do has been inside since the clock stopped.
  [[nodiscard]] std::optional<double> inside_s(double from_s, double now_s, bool has_more) const {
    const auto end = std::ranges::lower_bound(ends_s_, from_s);
    if (end != ends_s_.end()) {
      const auto call = static_cast<std::size_t>(std::distance(ends_s_.begin(), end));
      return std::max(from_s, begins_s_[call]);
    }
    if (has_more) return std::max(from_s, now_s);
    return std::nullopt;
  }

 private:
  std::vector<double> begins_s_, ends_s_;
};

/// The pairs of one step, in columns that are sorted by steps: from `begin` to `end`.
struct Pairs {
  Place begin = 0, end = 0;

  /// Goes on to a step that is not before the last one.
  void find(const Column<const Number>& steps, Place step) {
    begin = end;
    while (begin < steps.size && steps[begin] < step) ++begin;
    end = begin;
    while (end < steps.size && steps[end] == step) ++end;
  }
};

struct Actor {
  enum class Stage : std::uint8_t { before, begun, waits_for_message, waits_for_operation };

  Number number = 0;
  double now_s = 0;
  /// Its step, among those of all actors, and the end of its own.
  Place step = 0, first = 0, end = 0;
  Stage stage = Stage::before;
  /// What it waits for.
  Number thing = 0;
  /// How many messages of its step have arrived for certain.
  Place arrived = 0;
  Pairs awaited, ended;
  /// Processor time of large sends that do not block, spent in its next receive or wait.
  double pending_sends_s = 0;
  /// Until when operations that it began went on while it was elsewhere.
  double hidden_until_s = 0;
  Spent spent{};
  CallTimes calls;

  [[nodiscard]] bool has_more() const { return step < end; }

  /// Moves the clock to `end_s`: `own_s` are spent on messages, the rest waiting.
  void spend(double end_s, double own_s) {
    const double whole_s = end_s - now_s;
    spent.messages_s += std::min(own_s, whole_s);
    spent.waiting_s += std::max(0.0, whole_s - own_s);
    now_s = end_s;
  }
};
}  // namespace nhalf::replay
