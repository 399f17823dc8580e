// SPDX-License-Identifier: Apache-2.0
// The sampling loop: verify, grow the batch, sample until the criterion says stop.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/criterion.hpp"
#include "core/pattern.hpp"
#include "core/transport.hpp"

namespace nhalf {

/// What one point gave: samples in seconds per operation, at rank 0 only.
struct Measurement {
  bool verified = false;
  std::uint64_t batch_rounds = 1;
  std::vector<double> samples_s;
  Stop stop = Stop::none;
  double elapsed_s = 0;
  std::vector<std::string> advice;
};

/// Measures one pattern at one point; every rank calls it, and all stop together.
template <Transport T>
class Sampler {
 public:
  /// A batch lasts at least this many times the clock's resolution and overhead.
  static constexpr double clock_factor = 1000;
  /// Below this factor the clock itself is seen in the result, and an advice says so.
  static constexpr double coarse_factor = 100;

  Sampler(T& transport, const ClockQuality& clock, const Effort& effort)
      : transport_(transport), clock_(clock), effort_(effort), criterion_(effort) {}

  Measurement measure(Pattern& pattern, const PatternInfo& info) {
    Measurement result;
    const double began_s = transport_.now_s();
    result.verified = transport_.all(pattern.verify());
    if (!result.verified) return result;
    result.batch_rounds = grow(pattern, info);
    sample(pattern, info, result);
    result.elapsed_s = transport_.now_s() - began_s;
    advise(info, result);
    return result;
  }

 private:
  /// Time of one batch of rounds. Small batches begin with an untimed round, which leaves every
  /// rank in the step where the loop goes on: no skew of the barrier is timed.
  double batch_s(Pattern& pattern, std::uint64_t rounds) {
    transport_.barrier();
    if (rounds > 1) pattern.run(1);
    const double began_s = transport_.now_s();
    pattern.run(rounds);
    return transport_.now_s() - began_s;
  }

  /// Rounds per batch, so that a batch exceeds the clock's floor and `samples_max` batches fill the
  /// slice. Growing warms up caches, pages and connections.
  std::uint64_t grow(Pattern& pattern, const PatternInfo& info) {
    const double target_s = std::max(
        clock_factor * clock_.floor_s(),
        clock_.floor_s() > 0 ? effort_.slice_s / static_cast<double>(effort_.samples_max) : 0);
    std::uint64_t rounds = info.rounds_min;
    for (bool growing = true; growing;) {
      const double spent_s = batch_s(pattern, rounds);
      std::uint64_t wanted = rounds;
      if (spent_s < target_s) {
        const double estimate =
            std::ceil(target_s / std::max(spent_s, clock_.floor_s()) * static_cast<double>(rounds));
        wanted = static_cast<std::uint64_t>(std::min(estimate, 8.0 * static_cast<double>(rounds)));
        if (spent_s > target_s * 0.8) wanted = rounds;
      }
      share(transport_, wanted);
      growing = wanted > rounds;
      rounds = wanted;
    }
    return rounds;
  }

  void sample(Pattern& pattern, const PatternInfo& info, Measurement& result) {
    const double operations =
        static_cast<double>(result.batch_rounds) * static_cast<double>(info.messages_per_round);
    result.samples_s.reserve(effort_.samples_max);
    double spent_s = 0;
    while (result.stop == Stop::none) {
      const double time_s = batch_s(pattern, result.batch_rounds);
      result.samples_s.push_back(time_s / operations);
      spent_s += time_s;
      if (transport_.rank() == 0) result.stop = criterion_.decide(result.samples_s, spent_s);
      share(transport_, result.stop);
    }
  }

  void advise(const PatternInfo& info, Measurement& result) const {
    // A copy, because the samples keep the order in which they were taken.
    auto ordered = result.samples_s;
    const double batch_time_s = median(ordered) * static_cast<double>(result.batch_rounds) *
                                static_cast<double>(info.messages_per_round);
    if (batch_time_s < coarse_factor * clock_.floor_s()) result.advice.emplace_back("timer-coarse");
  }

  T& transport_;
  ClockQuality clock_;
  Effort effort_;
  Criterion criterion_;
};

}  // namespace nhalf
