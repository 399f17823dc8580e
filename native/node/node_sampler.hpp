// SPDX-License-Identifier: Apache-2.0
// The sampling loop of one core: every sample lies between two looks at how long a cycle is.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "contract/pattern.hpp"
#include "node/cycle_chain.hpp"
#include "timing/clock.hpp"
#include "timing/criterion.hpp"
#include "timing/sampler.hpp"

namespace nhalf {

/// The value below which a share of all values lies; reorders them. 0 of none.
inline double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto last = static_cast<double>(values.size() - 1);
  return order_statistic(values, static_cast<std::size_t>(std::lround(share * last)));
}

/// Times batches of a pattern that are so short that a core's clock seldom changes meanwhile and
/// seldom another program takes it.
class NodeSampler {
 public:
  static constexpr double batch_s = 50e-6;

  NodeSampler(SteadyClock& clock, const ClockQuality& quality, const Effort& effort)
      : clock_(clock),
        quality_(quality),
        effort_(effort),
        criterion_(effort),
        witness_(clock, quality.overhead_s) {}

  Measurement measure(Pattern& pattern) {
    Measurement result;
    const double began_s = clock_.now_s();
    const auto began = taken();
    result.verified = pattern.verify();
    if (!result.verified) return result;
    result.batch_rounds = grow(pattern);
    sample(pattern, result);
    result.values = pattern.values();
    result.elapsed_s = clock_.now_s() - began_s;
    add_values(result, began);
    return result;
  }

 private:
  /// How often others took the core of this thread, and for how long it had it.
  struct Taken {
    double times_ratio = 0;
    double computed_s = 0;
  };
  static Taken taken() {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return {static_cast<double>(used.ru_nivcsw), seconds(used.ru_utime) + seconds(used.ru_stime)};
  }

  double run_s(Pattern& pattern, std::uint64_t rounds) {
    const double began_s = clock_.now_s();
    pattern.run(rounds);
    return clock_.now_s() - began_s - quality_.overhead_s;
  }

  /// So many rounds as fill a batch, in the least of three looks.
  std::uint64_t grow(Pattern& pattern) {
    for (std::uint64_t rounds = 16;;) {
      double least_s = run_s(pattern, rounds);
      for (int look = 0; look < 2; ++look) least_s = std::min(least_s, run_s(pattern, rounds));
      if (least_s >= 0.7 * batch_s) return rounds;
      const double wanted = std::ceil(batch_s / std::max(least_s, 1e-9));
      rounds = static_cast<std::uint64_t>(static_cast<double>(rounds) * std::min(wanted, 8.0));
    }
  }

  void sample(Pattern& pattern, Measurement& result) {
    const auto rounds = static_cast<double>(result.batch_rounds);
    double spent_s = 0;
    while (result.stop == Stop::none) {
      const double before_s = witness_.cycle_s();
      const double time_s = run_s(pattern, result.batch_rounds);
      const double after_s = witness_.cycle_s();
      // Another program makes a look longer, and seldom both.
      const double cycle_s = std::min(before_s, after_s);
      result.samples_s.push_back(time_s / rounds);
      cycles_.push_back(time_s / rounds / cycle_s);
      cycle_s_.push_back(cycle_s);
      spent_s += time_s;
      result.stop = criterion_.decide(result.samples_s, spent_s);
    }
  }

  /// Cycles of a round by quantiles, how long a cycle was, and what others took of the core.
  void add_values(Measurement& result, const Taken& began) {
    const auto ended = taken();
    const double computed_s = ended.computed_s - began.computed_s;
    const std::pair<const char*, double> cycles[] = {
        {"cycles_p10", 0.1}, {"cycles_p25", 0.25}, {"cycles_p50", 0.5}, {"cycles_p75", 0.75}};
    for (const auto& [name, share] : cycles)
      result.values.push_back({name, quantile(cycles_, share)});
    result.values.push_back({"cycle_s", quantile(cycle_s_, 0.5)});
    result.values.push_back({"cycle_p10_s", quantile(cycle_s_, 0.1)});
    result.values.push_back({"cycle_p90_s", quantile(cycle_s_, 0.9)});
    result.values.push_back({"preempted", ended.times_ratio - began.times_ratio});
    result.values.push_back({"core_share", std::min(1.0, computed_s / result.elapsed_s)});
  }

  SteadyClock& clock_;
  ClockQuality quality_;
  Effort effort_;
  Criterion criterion_;
  CycleWitness<SteadyClock> witness_;
  std::vector<double> cycles_;
  std::vector<double> cycle_s_;
};

}  // namespace nhalf
