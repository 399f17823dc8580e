// Detects whether another thread shares this core (simultaneous multithreading).
#pragma once

#include <algorithm>

#include "node/idle.hpp"

namespace nhalf {

/// Detects a shared core by its issue rate.
///
/// Two threads that share a core get about half of its issue slots each, and a virtual machine does
/// not report that. A rate near the best one seen means that this thread had the core alone.
template <class Clock>
class CoreWitness {
 public:
  CoreWitness(Clock& clock, double overhead_s) : clock_(clock), overhead_s_(overhead_s) {}

  /// Whether the core issues nearly as much as it ever did, for cycles of `cycle_s`.
  bool is_alone(double cycle_s) {
    const double start_s = clock_.now_s();
    idle_rounds(rounds);
    const double spent_s = std::max(clock_.now_s() - start_s - overhead_s_, 1e-9);
    const double per_cycle = rounds * idle_per_round * cycle_s / spent_s;
    const bool is_alone = per_cycle > alone_share * best_per_cycle_;
    if (is_alone && per_cycle < per_cycle_max) learn(per_cycle);
    return is_alone;
  }

 private:
  /// Follows the rate up in steps and down slowly, since a single reading may be disturbed.
  void learn(double per_cycle) {
    if (best_per_cycle_ == 0) best_per_cycle_ = per_cycle;
    const double share = per_cycle > best_per_cycle_ ? 0.1 : 0.02;
    best_per_cycle_ += share * (per_cycle - best_per_cycle_);
  }

  static constexpr int rounds = 100;           // 0.3 µs on a core of its own
  static constexpr double per_cycle_max = 16;  // no core issues more: the reading was disturbed
  static constexpr double alone_share = 0.8;

  Clock& clock_;
  double overhead_s_;
  double best_per_cycle_ = 0;
};

}  // namespace nhalf
