// SPDX-License-Identifier: Apache-2.0
// Whether a core works for this thread alone: others may have a thread of the same core.
#pragma once

#include <algorithm>

#include "node/idle.hpp"

namespace nhalf {

/// Where two threads share a core, each gets about half of what it can issue, and no system says
/// so inside of a virtual machine. So the issue of instructions is looked at: at its best, the core
/// was alone.
template <class Clock>
class CoreWitness {
 public:
  CoreWitness(Clock& clock, double overhead_s) : clock_(clock), overhead_s_(overhead_s) {}

  /// Whether the core issues nearly as much as it ever did, cycles being `cycle_s` long.
  bool is_alone(double cycle_s) {
    const double began_s = clock_.now_s();
    idle_rounds(rounds);
    const double spent_s = std::max(clock_.now_s() - began_s - overhead_s_, 1e-9);
    const double per_cycle = rounds * idle_per_round * cycle_s / spent_s;
    const bool is_alone = per_cycle > alone_share * best_per_cycle_;
    if (is_alone && per_cycle < per_cycle_max) learn(per_cycle);
    return is_alone;
  }

 private:
  /// Goes up step by step and comes back slowly: one disturbed look at the clock says little.
  void learn(double per_cycle) {
    if (best_per_cycle_ == 0) best_per_cycle_ = per_cycle;
    const double share = per_cycle > best_per_cycle_ ? 0.1 : 0.02;
    best_per_cycle_ += share * (per_cycle - best_per_cycle_);
  }

  static constexpr int rounds = 100;           // 0.3 µs where it is alone
  static constexpr double per_cycle_max = 16;  // no core issues more: such a look was disturbed
  static constexpr double alone_share = 0.8;

  Clock& clock_;
  double overhead_s_;
  double best_per_cycle_ = 0;
};

}  // namespace nhalf
