// Whether a pattern delivers the right data: many messages are looked at before and after timing.
#pragma once

#include "contract/pattern.hpp"
#include "timing/clock.hpp"
#include "timing/criterion.hpp"

namespace nhalf {
/// Verifies rounds until there are enough, or the time for it is over: a library may be wrong in
/// one of a thousand messages. Every rank calls it, and all get the same answer.
///
/// In virtual time, which repeats itself, one round before the timing says as much as many.
template <Controlled T>
class Verification {
 public:
  static constexpr std::uint64_t rounds_before = 1000;
  static constexpr std::uint64_t rounds_after = 500;
  /// Parts of the slice that the rounds before and after may take.
  static constexpr double before_share = 0.4;
  static constexpr double after_share = 0.2;
  /// They may take at least this long, or these parts of a slice that is too short for it: where
  /// slices are short, there are many launches, each with rounds of its own.
  static constexpr double least_s = 0.002;
  static constexpr double before_least_share = 0.5;
  static constexpr double after_least_share = 0.25;

  Verification(T& transport, const ClockQuality& clock, const Effort& effort)
      : transport_(transport), is_virtual_(clock.floor_s() == 0), slice_s_(effort.slice_s) {}

  /// Whether all data of the rounds before the timing was right at every rank.
  bool before(Pattern& pattern) {
    if constexpr (is_exact<T>) return true;
    const double began_s = transport_.now_s();
    if (!transport_.all(pattern.verify())) return false;
    round_s_ = transport_.now_s() - began_s;
    return holds(pattern, rounds_before, limit_s(before_share, before_least_share));
  }

  /// Whether what the timed rounds left was right at every rank, and that of further rounds.
  bool after(Pattern& pattern) {
    return transport_.all(pattern.is_right()) &&
           holds(pattern, rounds_after, limit_s(after_share, after_least_share));
  }

 private:
  [[nodiscard]] double limit_s(double share, double least_share) const {
    return std::max(share * slice_s_, std::min(least_s, least_share * slice_s_));
  }

  /// Verifies ever more rounds between two looks at rank 0's clock, which cost all ranks a
  /// broadcast.
  bool holds(Pattern& pattern, std::uint64_t rounds_max, double limit_s) {
    if (is_exact<T> || is_virtual_ || !pattern.checks_messages()) return true;
    const double began_s = transport_.now_s();
    bool right = true;
    for (std::uint64_t verified = 0, rounds = 1; right; verified += rounds) {
      const double spent_s = transport_.now_s() - began_s;
      if (verified > 0) round_s_ = spent_s / static_cast<double>(verified);
      rounds = std::min(std::max<std::uint64_t>(1, verified), rounds_max - verified);
      if (static_cast<double>(rounds) * round_s_ > limit_s - spent_s)
        rounds = static_cast<std::uint64_t>(std::max(0.0, (limit_s - spent_s) / round_s_));
      share(transport_, rounds);
      if (rounds == 0) break;
      for (auto i = rounds; i > 0; --i) {
        transport_.barrier();
        right = pattern.verify() && right;
      }
      right = transport_.all(right);
    }
    return right;
  }

  T& transport_;
  bool is_virtual_;
  double slice_s_;
  double round_s_ = 0;
};
}  // namespace nhalf
