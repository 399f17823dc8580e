// When an actor was inside MPI, where its library moves large messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

namespace nhalf::replay {
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
}  // namespace nhalf::replay
