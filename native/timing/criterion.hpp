// Decides when sampling ends.
#pragma once

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
}  // namespace nhalf
