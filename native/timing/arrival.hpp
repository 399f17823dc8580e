// When ranks come to an operation that not all come to together.
#pragma once

#include "contract/pattern.hpp"

namespace nhalf {
/// Ranks start a timed operation at chosen times, as programs do whose ranks have unequal work
/// (A. Faraj, P. Patarasuk, X. Yuan, "A Study of Process Arrival Patterns for MPI Collective
/// Operations", International Journal of Parallel Programming 36, 2008); or as a program did.
class Arrival {
 public:
  enum class Kind { together, one_late, ramp, random, table };

  Arrival() = default;
  /// Throws InputError for a spread without an arrival, for one that is no time, and for a table of
  /// other than `ranks` ranks.
  Arrival(const Case& point, int ranks) {
    constexpr std::string_view kinds[] = {"together", "one-late", "ramp", "random"};
    const auto text = point.axes.text("arrival");
    const bool is_table = !text.empty() && text.front() >= '0' && text.front() <= '9';
    kind_ = is_table ? Kind::table : static_cast<Kind>(point.choice("arrival", kinds));
    if (is_table) read(text, static_cast<std::size_t>(ranks));
    const auto spread_us = point.axes.number("spread_us", default_spread_us);
    check(spread_us);
    if ((kind_ == Kind::together || is_table) && spread_us != default_spread_us)
      throw InputError("axis spread_us needs an arrival: one-late, ramp or random");
    spread_s_ = spread_us * 1e-6;
  }

  [[nodiscard]] bool is_together() const { return kind_ == Kind::together; }

  /// How much later than the first one a rank comes to an operation: one-late, the last rank comes
  /// after all others; ramp, each comes after the one before it; random, another time in every
  /// operation, drawn alike by all ranks; a table, by one of its rows after the other.
  [[nodiscard]] double delay_s(int rank, int ranks, std::uint64_t operation) const {
    switch (kind_) {
      case Kind::one_late:
        return rank == ranks - 1 ? spread_s_ : 0;
      case Kind::ramp:
        return ranks > 1 ? spread_s_ * rank / (ranks - 1) : 0;
      case Kind::random:
        return spread_s_ * drawn(operation * static_cast<std::uint64_t>(ranks) +
                                 static_cast<std::uint64_t>(rank));
      case Kind::table:
        return rows_[operation % rows_.size()][static_cast<std::size_t>(rank)];
      default:
        return 0;
    }
  }

 private:
  static constexpr double default_spread_us = 100;

  static void check(double time_us) {
    if (time_us < 0 || time_us > 1e6) throw InputError("starts are from 0 to 1000000 us apart");
  }

  /// Rows such as 0-35-12_5-0-7: microseconds for each rank.
  void read(const std::string& text, std::size_t ranks) {
    rows_.emplace_back();
    for (const char *at = text.data(), *const end = at + text.size(); at <= end; ++at) {
      unsigned time_us = 0;
      const auto [stop, error] = std::from_chars(at, end, time_us);
      if (error != std::errc{} || (stop != end && *stop != '-' && *stop != '_'))
        throw InputError("a table of arrivals is microseconds such as 0-35-12_5-0-7");
      check(time_us);
      rows_.back().push_back(time_us * 1e-6);
      at = stop;
      if (at != end && *at == '-') continue;
      if (rows_.back().size() != ranks)
        throw InputError("this table of arrivals is of " + std::to_string(rows_.back().size()) +
                         " ranks: give --ranks " + std::to_string(rows_.back().size()));
      if (at != end) rows_.emplace_back();
    }
  }

  /// A number from 0 to 1 (S. Vigna's SplitMix64).
  static double drawn(std::uint64_t number) {
    number = (number + 1) * 0x9e3779b97f4a7c15U;
    number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9U;
    number = (number ^ (number >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<double>((number ^ (number >> 31U)) >> 11U) * 0x1p-53;
  }

  Kind kind_ = Kind::together;
  double spread_s_ = 0;
  /// Seconds by row and rank.
  std::vector<std::vector<double>> rows_;
};
}  // namespace nhalf
