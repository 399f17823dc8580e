// When ranks come to an operation that not all come to together.
#pragma once

#include "contract/pattern.hpp"

namespace nhalf {
/// Ranks start a timed operation at chosen times, as programs do whose ranks have unequal work
/// (A. Faraj, P. Patarasuk, X. Yuan, "A Study of Process Arrival Patterns for MPI Collective
/// Operations", International Journal of Parallel Programming 36, 2008).
class Arrival {
 public:
  enum class Kind { together, one_late, ramp, random };

  Arrival() = default;
  /// Throws InputError for a spread without an arrival, and for one that is no time.
  explicit Arrival(const Case& point) {
    constexpr std::string_view kinds[] = {"together", "one-late", "ramp", "random"};
    kind_ = static_cast<Kind>(point.choice("arrival", kinds));
    const auto spread_us = point.axes.number("spread_us", default_spread_us);
    if (spread_us < 0 || spread_us > 1e6) throw InputError("axis spread_us is from 0 to 1000000");
    if (kind_ == Kind::together && spread_us != default_spread_us)
      throw InputError("axis spread_us needs an arrival: one-late, ramp or random");
    spread_s_ = spread_us * 1e-6;
  }

  [[nodiscard]] bool is_together() const { return kind_ == Kind::together; }

  /// How much later than the first one a rank comes to an operation: one-late, the last rank comes
  /// after all others; ramp, each comes after the one before it; random, another time in every
  /// operation, drawn alike by all ranks.
  [[nodiscard]] double delay_s(int rank, int ranks, std::uint64_t operation) const {
    switch (kind_) {
      case Kind::one_late:
        return rank == ranks - 1 ? spread_s_ : 0;
      case Kind::ramp:
        return ranks > 1 ? spread_s_ * rank / (ranks - 1) : 0;
      case Kind::random:
        return spread_s_ * drawn(operation * static_cast<std::uint64_t>(ranks) +
                                 static_cast<std::uint64_t>(rank));
      default:
        return 0;
    }
  }

 private:
  static constexpr double default_spread_us = 100;

  /// A number from 0 to 1 (S. Vigna's SplitMix64).
  static double drawn(std::uint64_t number) {
    number = (number + 1) * 0x9e3779b97f4a7c15U;
    number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9U;
    number = (number ^ (number >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<double>((number ^ (number >> 31U)) >> 11U) * 0x1p-53;
  }

  Kind kind_ = Kind::together;
  double spread_s_ = 0;
};
}  // namespace nhalf
