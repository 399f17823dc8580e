// What trials of a way may cost, what they took, and what follows from that.
#pragma once

#include "contract/vocabulary.hpp"

namespace nhalf::coll {

/// Seconds of the slowest rank, which holds up the others where these run ahead: in calls by the
/// library's own, in calls by the other way, and beside calls, to look at clocks and to exchange
/// times; and pages that some rank touched first meanwhile.
struct Spent {
  double own_s = 0, other_s = 0, beside_s = 0;
  std::int64_t first_touches = 0;
};

/// What trials may cost: a share of what all calls would have taken by the library's own, and a
/// constant. A budget may be a part of another, which then has to allow what it allows.
class Budget {
 public:
  static constexpr double share = 0.01;

  explicit Budget(double constant_s, double of_share = share)
      : constant_s_(constant_s), share_(of_share) {}

  /// Makes this a part of a budget that outlives it.
  void be_part_of(Budget& whole) { whole_ = &whole; }

  /// Adds what calls would have taken by the library's own, or took by it.
  void add_own(double own_s) {
    own_s_ += own_s;
    if (whole_ != nullptr) whole_->add_own(own_s);
  }
  /// Adds an excess over the library's own; a negative one makes up for earlier ones.
  void lose(double lost_s) {
    lost_s_ = std::max(0.0, lost_s_ + lost_s);
    if (whole_ != nullptr) whole_->lose(lost_s);
  }
  [[nodiscard]] bool allows(double further_s) const {
    if (further_s <= 0) return true;
    return lost_s_ + further_s <= constant_s_ + share_ * own_s_ &&
           (whole_ == nullptr || whole_->allows(further_s));
  }

 private:
  double constant_s_, share_;
  double own_s_ = 0, lost_s_ = 0;
  Budget* whole_ = nullptr;
};

/// The times of some calls, of which the longest, and of four or more the second longest, count no
/// more than four times the mean of the others: interruptions and first touches of pages hit single
/// calls.
class CallTimes {
 public:
  void add(double call_s) {
    sum_s_ += call_s;
    ++calls_;
    second_s_ = std::max(second_s_, std::min(call_s, longest_s_));
    longest_s_ = std::max(longest_s_, call_s);
  }
  [[nodiscard]] double sum_s() const {
    if (calls_ < 2) return sum_s_;
    const bool are_many = calls_ > 3;
    const double others_s = sum_s_ - longest_s_ - (are_many ? second_s_ : 0);
    const double most_s = longest_of_mean * others_s / (calls_ - (are_many ? 2 : 1));
    return others_s + std::min(longest_s_, most_s) + (are_many ? std::min(second_s_, most_s) : 0);
  }

 private:
  static constexpr double longest_of_mean = 4;

  double sum_s_ = 0, longest_s_ = 0, second_s_ = 0;
  int calls_ = 0;
};

/// Evidence from pairs of blocks that one way wins more of them: the capital of a gambler who bets
/// shares of it on every pair, 1 at the start, mean of three shares. If both ways are as likely to
/// win, it ever reaches c with a probability of at most 1 / c, however long one looks (J. Ville,
/// "Étude critique de la notion de collectif", 1939).
class Evidence {
 public:
  void add(bool other_wins) {
    ++(other_wins ? other_wins_ : own_wins_);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      for_other_[i] *= other_wins ? 1 + shares[i] : 1 - shares[i];
      for_own_[i] *= other_wins ? 1 - shares[i] : 1 + shares[i];
    }
  }
  [[nodiscard]] double for_other() const { return mean(for_other_); }
  [[nodiscard]] double for_own() const { return mean(for_own_); }
  [[nodiscard]] int other_wins() const { return other_wins_; }
  [[nodiscard]] int own_wins() const { return own_wins_; }

 private:
  using Capital = std::array<double, 3>;
  static constexpr Capital shares{0.25, 0.5, 0.9};

  static double mean(const Capital& capital) { return (capital[0] + capital[1] + capital[2]) / 3; }

  Capital for_other_{1, 1, 1}, for_own_{1, 1, 1};
  int other_wins_ = 0, own_wins_ = 0;
};

}  // namespace nhalf::coll
