// When sampling ends, and whether a pattern delivers the right data: many messages are looked at
// before and after timing.
#pragma once

#include "contract/pattern.hpp"
#include "timing/clock.hpp"
#include "timing/statistics.hpp"

namespace nhalf {
/// The time and the number of samples that a point may take.
struct Effort {
  /// Time budget of the samples.
  double slice_s = 0.02;
  /// Relative half-width of the median's interval at which sampling may end.
  double precision = 0.01;
  std::size_t samples_min = 20;
  std::size_t samples_max = 200;
};

/// The reason why sampling ended.
enum class Stop { none, precision, time, samples };

inline std::string_view name_of(Stop stop) {
  switch (stop) {
    case Stop::precision:
      return "precision";
    case Stop::time:
      return "time";
    case Stop::samples:
      return "samples";
    case Stop::none:
      break;
  }
  return "none";
}

/// Decides from the samples alone when sampling ends, so that it can be tested on plain numbers.
class Criterion {
 public:
  explicit Criterion(const Effort& effort) : effort_(effort) {}

  /// Whether to stop after these samples, which took `spent_s` in all.
  ///
  /// A quarter of the slice is always spent: a noisy machine changes its state within
  /// milliseconds, and samples that all lie within one state agree too easily. Samples without any
  /// spread come from a deterministic clock, where further ones add nothing.
  Stop decide(const std::vector<double>& samples, double spent_s) {
    const auto n = samples.size();
    if (n == 0) return Stop::none;
    if (n >= effort_.samples_max) return Stop::samples;
    if (n >= effort_.samples_min && n % 5 == 0) {
      scratch_.assign(samples.begin(), samples.end());
      const double half_width = relative_half_width(scratch_);
      if (half_width < deterministic) return Stop::precision;
      if (half_width <= effort_.precision && spent_s >= effort_.slice_s / 4) return Stop::precision;
    }
    return spent_s >= effort_.slice_s ? Stop::time : Stop::none;
  }

 private:
  /// Relative spread below which samples differ only by the rounding of a virtual clock.
  static constexpr double deterministic = 1e-9;

  Effort effort_;
  std::vector<double> scratch_;
};

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
