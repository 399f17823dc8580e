// To which ranks each rank of a traffic sends, at random or by a permutation that is known by name.
#pragma once

#include "contract/pattern.hpp"

namespace nhalf {
// Permutations of ranks that are known by name: to whom each rank sends.
//
// The bits of a rank are numbered from 0, the lowest. Definitions as in J. Duato, S. Yalamanchili,
// L. Ni: Interconnection Networks, an Engineering Approach, Morgan Kaufmann 2003.

/// The bits of the ranks that take part in a permutation: the largest 2^bits that is not above
/// `ranks` of them do, from rank 0 on; the others idle.
constexpr int rank_bits(int ranks) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 1;
}

namespace bit_permutations {
/// The low `bits` bits moved down by `by` places, those that fall out come in at the top.
constexpr unsigned rotated_right(unsigned rank, int bits, int by) {
  const unsigned mask = (1U << bits) - 1;
  const unsigned low = rank & mask;
  return (rank & ~mask) | (low >> by) | (low << (bits - by) & mask);
}

constexpr unsigned bit_reversal(unsigned rank, int bits, int) {
  unsigned reversed = 0;
  for (int bit = 0; bit < bits; ++bit) reversed |= (rank >> bit & 1U) << (bits - 1 - bit);
  return reversed;
}

/// Bits `stage` and 0 change places.
constexpr unsigned butterfly(unsigned rank, int, int stage) {
  const unsigned differ = (rank >> stage ^ rank) & 1U;
  return rank ^ (differ << stage) ^ differ;
}

/// Every bit is flipped.
constexpr unsigned complement(unsigned rank, int bits, int) {
  return rank ^ ((1U << bits) - 1);
}

/// The halves of the bits change places, as row and column do where a matrix is transposed. Of an
/// odd number of bits the row has one more: the matrix has twice as many rows as columns.
constexpr unsigned transpose(unsigned rank, int bits, int) {
  return rotated_right(rank, bits, bits / 2);
}

/// The perfect shuffle of a pack of cards: the bits move up by one place, the highest to the end.
constexpr unsigned shuffle(unsigned rank, int bits, int) {
  return rotated_right(rank, bits, bits - 1);
}

/// Pairs: bit 0 is flipped.
constexpr unsigned neighbour(unsigned rank, int, int) {
  return rank ^ 1U;
}

/// Bit `stage` is flipped.
constexpr unsigned cube(unsigned rank, int, int stage) {
  return rank ^ (1U << stage);
}

/// The low stage + 1 bits move down by one place, the lowest to their top.
constexpr unsigned baseline(unsigned rank, int, int stage) {
  return rotated_right(rank, stage + 1, 1);
}

/// A permutation of the numbers of `bits` bits, which is at least 1.
struct Rule {
  std::string_view name;
  unsigned (*of)(unsigned rank, int bits, int stage);
  /// It has stages from this one to bits - 1; -1: it has none.
  int first_stage = -1;
};

inline constexpr Rule rules[] = {{"bit-reversal", bit_reversal},
                                 {"butterfly", butterfly, 1},
                                 {"complement", complement},
                                 {"transpose", transpose},
                                 {"shuffle", shuffle},
                                 {"neighbour", neighbour},
                                 {"cube", cube, 0},
                                 {"baseline", baseline, 1}};
}  // namespace bit_permutations

/// The rule of a point's axes `to`, `distance` and `scope`. Throws InputError where they do not fit
/// each other or the number of ranks.
class Destinations {
 public:
  /// What `to` may say: anybody, or a permutation.
  static constexpr auto names() {
    std::array<std::string_view, std::size(bit_permutations::rules) + 1> destinations{"uniform"};
    std::ranges::transform(bit_permutations::rules, destinations.begin() + 1,
                           &bit_permutations::Rule::name);
    return destinations;
  }

  Destinations(int ranks, const Case& point)
      : ranks_(ranks), hosts_(point.hosts.begin(), point.hosts.end()) {
    constexpr std::string_view scopes[] = {"all", "on-node", "off-node"};
    scope_ = static_cast<Scope>(point.choice("scope", scopes));
    const auto chosen = point.choice("to", names());
    if (chosen > 0) rule_ = &bit_permutations::rules[chosen - 1];
    const auto distance = point.axes.text("distance", std::string(highest));
    if (rule_ != nullptr && rule_->first_stage >= 0) {
      choose_stages(distance);
    } else if (distance != highest) {
      throw InputError("axis distance is for butterfly, cube and baseline");
    }
  }

  /// Ranks from 0 on that the rule knows; the others neither send nor receive.
  [[nodiscard]] int taking_part() const {
    return rule_ == nullptr ? ranks_ : 1 << rank_bits(ranks_);
  }

  /// To which ranks this one sends; to none where the permutation leaves it in its place.
  [[nodiscard]] std::vector<int> of(int rank) const {
    std::vector<int> destinations;
    const auto add = [&](int to) {
      if (to != rank && in_scope(rank, to)) destinations.push_back(to);
    };
    if (rule_ == nullptr) {
      for (int to = 0; to < ranks_; ++to) add(to);
    } else if (rank < taking_part()) {
      add(static_cast<int>(permuted(static_cast<unsigned>(rank))));
    }
    return destinations;
  }

  /// Whether two ranks are on one host; all are where nothing else is known.
  [[nodiscard]] bool same_host(int rank_a, int rank_b) const {
    const auto host = [&](int rank) {
      return hosts_.empty() ? 0 : hosts_[static_cast<std::size_t>(rank)];
    };
    return host(rank_a) == host(rank_b);
  }

 private:
  enum class Scope { all, on_node, off_node };

  /// What axis `distance` says for the last stage, and for all of them.
  static constexpr std::string_view highest = "highest";
  static constexpr std::string_view all = "all";

  /// One stage, or every one after the other.
  void choose_stages(const std::string& distance) {
    const int last = rank_bits(ranks_) - 1;
    if (last < rule_->first_stage)
      throw InputError(std::string(rule_->name) + " needs " +
                       std::to_string(2 << rule_->first_stage) + " ranks or more");
    first_stage_ = last_stage_ = last;
    if (distance == all) first_stage_ = rule_->first_stage;
    if (distance != all && distance != highest) first_stage_ = last_stage_ = stage_of(distance);
  }

  /// The bit whose value is the axis `distance`.
  [[nodiscard]] int stage_of(const std::string& distance) const {
    const unsigned least = 1U << rule_->first_stage;
    const unsigned most = static_cast<unsigned>(taking_part()) / 2;
    for (unsigned power = least; power <= most; power *= 2)
      if (distance == std::to_string(power)) return std::countr_zero(power);
    throw InputError("distance of " + std::string(rule_->name) + " is a power of 2 from " +
                     std::to_string(least) + " to half of " + std::to_string(taking_part()) +
                     " ranks, highest or all");
  }

  /// Where the chosen stages, one after the other, lead from a rank.
  [[nodiscard]] unsigned permuted(unsigned rank) const {
    for (int stage = first_stage_; stage <= last_stage_; ++stage)
      rank = rule_->of(rank, rank_bits(ranks_), stage);
    return rank;
  }

  [[nodiscard]] bool in_scope(int from, int to) const {
    return scope_ == Scope::all || same_host(from, to) == (scope_ == Scope::on_node);
  }

  int ranks_;
  std::vector<int> hosts_;
  Scope scope_;
  const bit_permutations::Rule* rule_ = nullptr;
  int first_stage_ = 0;
  int last_stage_ = 0;
};
}  // namespace nhalf
