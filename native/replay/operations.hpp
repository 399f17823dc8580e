// Collective operations while ranks arrive.
#pragma once

#include <limits>
#include <optional>

#include "replay/waiters.hpp"

namespace nhalf::replay {
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
}  // namespace nhalf::replay
