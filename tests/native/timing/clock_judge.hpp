// How right a global clock is, where it is known how wrong every clock is.
#pragma once

#include <cmath>
#include <string>

#include "contract/options.hpp"
#include "timing/clock.hpp"
#include "timing/global_clock.hpp"
#include "transports/model.hpp"

namespace nhalf::clock_judge {

inline const std::string wrong_clocks = "clock_offset_s=1,clock_drift_ppm=100";

/// Judges a rank's global clock, knowing how wrong which clock is.
template <class T>
class Judge {
 public:
  Judge(T& transport, const Options& options)
      : transport_(transport), root_(options, 0), mine_(options, transport.rank()) {}

  /// Error of the global time that this rank reads at an instant of its own exact clock.
  double error_s(const GlobalClock<T>& clock, double reading_s, double exactly_s) {
    return std::abs(clock.global_s(reading_s) - root_.shown_s(mine_.true_s(exactly_s)));
  }
  double error_s(const GlobalClock<T>& clock) {
    const double reading_s = transport_.now_s();
    return error_s(clock, reading_s, reading_s);
  }
  bool right(const GlobalClock<T>& clock) {
    const double rounding_s = 1e-12;
    const double reading_s = transport_.now_s();
    return error_s(clock) <= clock.uncertainty_s(reading_s) + rounding_s;
  }

 private:
  T& transport_;
  ClockError root_, mine_;
};

/// Runs `body` at every rank of a model machine.
template <class Body>
void on_model(int ranks, const Options& options, Body body) {
  ModelTransport::launch(0, nullptr, ranks, options, [&](ModelTransport& t) { body(t); });
}

}  // namespace nhalf::clock_judge
