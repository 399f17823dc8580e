// Samples one core: the cycle time is measured before and after every sample.
#pragma once

#include "node/core.hpp"
#include "timing/sampler.hpp"

namespace nhalf {
/// Returns the quantile at `share`, 0 for an empty list. Reorders `values`.
inline double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto last = static_cast<double>(values.size() - 1);
  return order_statistic(values, static_cast<std::size_t>(std::lround(share * last)));
}

/// Times batches of a pattern that are short enough that frequency changes and preemption seldom
/// fall into one.
class NodeSampler {
 public:
  static constexpr double batch_s = 50e-6;

  NodeSampler(SteadyClock& clock, const ClockQuality& quality, CoreWitness<SteadyClock>& core,
              const Effort& effort)
      : clock_(clock),
        quality_(quality),
        core_(core),
        effort_(effort),
        criterion_(effort),
        witness_(clock, quality.overhead_s) {}

  Measurement measure(Pattern& pattern) {
    Measurement result;
    const double began_s = clock_.now_s();
    const auto began = usage();
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
  /// How often this thread was preempted, and how long it computed.
  struct Usage {
    double times_ratio = 0;
    double computed_s = 0;
  };
  static Usage usage() {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return {static_cast<double>(used.ru_nivcsw), seconds(used.ru_utime) + seconds(used.ru_stime)};
  }

  double run_s(Pattern& pattern, std::uint64_t rounds) {
    const double start_s = clock_.now_s();
    pattern.run(rounds);
    return clock_.now_s() - start_s - quality_.overhead_s;
  }

  /// Returns how many rounds fill a batch, judged by the shortest of three trials.
  std::uint64_t grow(Pattern& pattern) {
    for (std::uint64_t rounds = 16;;) {
      double least_s = run_s(pattern, rounds);
      for (int trial = 0; trial < 2; ++trial) least_s = std::min(least_s, run_s(pattern, rounds));
      if (least_s >= 0.7 * batch_s) return rounds;
      const double factor = std::ceil(batch_s / std::max(least_s, 1e-9));
      rounds = static_cast<std::uint64_t>(static_cast<double>(rounds) * std::min(factor, 8.0));
    }
  }

  void sample(Pattern& pattern, Measurement& result) {
    const auto rounds = static_cast<double>(result.batch_rounds);
    double spent_s = 0;
    double before_s = witness_.cycle_s();
    bool was_alone = core_.is_alone(before_s);
    while (result.stop == Stop::none || (!alone_enough() && result.samples_s.size() < most)) {
      const double time_s = run_s(pattern, result.batch_rounds);
      const double after_s = witness_.cycle_s();
      // Preemption lengthens a measurement of the cycle, and seldom both.
      const double cycle_s = std::min(before_s, after_s);
      const bool is_steady = std::max(before_s, after_s) < steady_ratio * cycle_s;
      const bool is_alone = core_.is_alone(cycle_s) && is_steady;
      result.samples_s.push_back(time_s / rounds);
      samples_.push_back({time_s / rounds / cycle_s, cycle_s, was_alone && is_alone});
      alone_ += samples_.back().is_alone ? 1 : 0;
      before_s = after_s;
      was_alone = is_alone;
      spent_s += time_s;
      if (result.stop == Stop::none) result.stop = criterion_.decide(result.samples_s, spent_s);
    }
  }

  /// Whether there are enough samples of a core that was not shared.
  [[nodiscard]] bool alone_enough() const { return alone_ >= alone_min; }

  /// Drops samples of a shared core, unless too few would remain.
  void choose() {
    if (!alone_enough()) return;
    std::erase_if(samples_, [](const Sample& sample) { return !sample.is_alone; });
  }

  /// Adds quantiles of the cycles per round and of the cycle time, and preemption.
  void add_values(Measurement& result, const Usage& began) {
    const auto ended = usage();
    const double computed_s = ended.computed_s - began.computed_s;
    result.values.push_back({"alone_share", static_cast<double>(alone_) /
                                                static_cast<double>(result.samples_s.size())});
    result.values.push_back({"was_alone", alone_enough() ? 1.0 : 0.0});
    choose();
    std::vector<double> cycles;
    std::vector<double> cycle_s;
    for (const auto& sample : samples_) {
      cycles.push_back(sample.cycles);
      cycle_s.push_back(sample.cycle_s);
    }
    const std::pair<const char*, double> shares[] = {
        {"cycles_p10", 0.1}, {"cycles_p25", 0.25}, {"cycles_p50", 0.5}, {"cycles_p75", 0.75}};
    for (const auto& [name, share] : shares)
      result.values.push_back({name, quantile(cycles, share)});
    result.values.push_back({"cycle_s", quantile(cycle_s, 0.5)});
    result.values.push_back({"cycle_p10_s", quantile(cycle_s, 0.1)});
    result.values.push_back({"cycle_p90_s", quantile(cycle_s, 0.9)});
    result.values.push_back({"preempted", ended.times_ratio - began.times_ratio});
    result.values.push_back({"core_share", std::min(1.0, computed_s / result.elapsed_s)});
  }

  /// Cycles of a round, the cycle time, and whether the core was alone before and after.
  struct Sample {
    double cycles = 0;
    double cycle_s = 0;
    bool is_alone = false;
  };
  /// Sampling goes on until `alone_min` samples had the core alone, up to `most` samples in all.
  static constexpr std::size_t alone_min = 8;
  static constexpr std::size_t most = 240;
  /// Cycle times further apart than this mean a disturbance or a frequency change.
  static constexpr double steady_ratio = 1.02;

  SteadyClock& clock_;
  ClockQuality quality_;
  CoreWitness<SteadyClock>& core_;
  Effort effort_;
  Criterion criterion_;
  CycleWitness<SteadyClock> witness_;
  std::vector<Sample> samples_;
  std::size_t alone_ = 0;
};
}  // namespace nhalf
