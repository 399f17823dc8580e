// A subset of all ranks, in ascending order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace nhalf {

/// Consecutive ranks, which need no memory however many they are, or a list of ranks.
class Team {
 public:
  Team() = default;
  explicit Team(std::vector<int> ranks) : listed_(std::move(ranks)) {}
  static Team from_to(int first, int end) {
    Team team;
    team.first_ = first;
    team.end_ = end;
    return team;
  }

  [[nodiscard]] std::size_t size() const {
    return listed_.empty() ? static_cast<std::size_t>(end_ - first_) : listed_.size();
  }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] int operator[](std::size_t place) const {
    return listed_.empty() ? first_ + static_cast<int>(place) : listed_[place];
  }

  /// Returns the position of a rank in the team.
  [[nodiscard]] std::optional<std::size_t> place_of(int rank) const {
    if (listed_.empty()) {
      if (rank < first_ || rank >= end_) return std::nullopt;
      return static_cast<std::size_t>(rank - first_);
    }
    const auto place = std::ranges::lower_bound(listed_, rank);
    if (place == listed_.end() || *place != rank) return std::nullopt;
    return static_cast<std::size_t>(place - listed_.begin());
  }

 private:
  int first_ = 0, end_ = 0;
  std::vector<int> listed_;
};

}  // namespace nhalf
