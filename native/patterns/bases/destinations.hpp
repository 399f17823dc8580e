// SPDX-License-Identifier: Apache-2.0
// To which ranks each rank of a traffic sends.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "contract/pattern.hpp"
#include "patterns/bases/bit_permutations.hpp"

namespace nhalf {

/// The rule of a point's axes `to`, `distance` and `scope`. Throws InputError where they do not fit
/// each other or the number of ranks.
class Destinations {
 public:
  /// What `to` may say: anybody, or a permutation.
  static constexpr auto names() {
    std::array<std::string_view, std::size(bit_permutations::rules) + 1> all{"uniform"};
    std::ranges::transform(bit_permutations::rules, all.begin() + 1, &bit_permutations::Rule::name);
    return all;
  }

  Destinations(int ranks, const Case& point)
      : ranks_(ranks), hosts_(point.hosts.begin(), point.hosts.end()) {
    constexpr std::string_view scopes[] = {"all", "on-node", "off-node"};
    scope_ = static_cast<Scope>(point.choice("scope", scopes));
    const auto chosen = point.choice("to", names());
    if (chosen > 0) rule_ = &bit_permutations::rules[chosen - 1];
    if (rule_ != nullptr && rule_->first_stage >= 0) {
      stage_ = stage_of(point);
    } else if (distance_of(point) != fallback_distance) {
      throw InputError("axis distance is for butterfly, cube and baseline");
    }
  }

  /// Ranks from 0 on that the rule knows; the others neither send nor receive.
  [[nodiscard]] int taking_part() const {
    return rule_ == nullptr ? ranks_ : 1 << rank_bits(ranks_);
  }

  /// To which ranks this one sends; to none where the permutation leaves it in its place.
  [[nodiscard]] std::vector<int> of(int rank) const {
    std::vector<int> found;
    const auto add = [&](int to) {
      if (to != rank && in_scope(rank, to)) found.push_back(to);
    };
    if (rule_ == nullptr) {
      for (int to = 0; to < ranks_; ++to) add(to);
    } else if (rank < taking_part()) {
      add(static_cast<int>(rule_->of(static_cast<unsigned>(rank), rank_bits(ranks_), stage_)));
    }
    return found;
  }

 private:
  enum class Scope { all, on_node, off_node };

  static constexpr unsigned fallback_distance = 2;

  [[nodiscard]] static unsigned distance_of(const Case& point) {
    return point.axes.number("distance", fallback_distance);
  }

  /// The bit whose value is the axis `distance`.
  [[nodiscard]] int stage_of(const Case& point) const {
    const unsigned distance = distance_of(point);
    const unsigned least = 1U << rule_->first_stage;
    const unsigned most = static_cast<unsigned>(taking_part()) / 2;
    if (!std::has_single_bit(distance) || distance < least || distance > most)
      throw InputError("distance of " + std::string(rule_->name) + " is a power of 2 from " +
                       std::to_string(least) + " to half of " + std::to_string(taking_part()) +
                       " ranks");
    return std::countr_zero(distance);
  }

  [[nodiscard]] bool in_scope(int from, int to) const {
    if (scope_ == Scope::all) return true;
    const auto host = [&](int rank) {
      return hosts_.empty() ? 0 : hosts_[static_cast<std::size_t>(rank)];
    };
    return (host(from) == host(to)) == (scope_ == Scope::on_node);
  }

  int ranks_;
  std::vector<int> hosts_;
  Scope scope_;
  const bit_permutations::Rule* rule_ = nullptr;
  int stage_ = 0;
};

}  // namespace nhalf
