// SPDX-License-Identifier: Apache-2.0
// The sampling loop: verify, grow the batch, sample until the criterion says stop.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "contract/pattern.hpp"
#include "contract/transport.hpp"
#include "timing/clock.hpp"
#include "timing/criterion.hpp"

namespace nhalf {

/// What one point gave: samples in seconds per operation, at rank 0 only.
struct Measurement {
  bool verified = false;
  std::uint64_t batch_rounds = 1;
  std::vector<double> samples_s;
  /// Rank by rank the median of its own times, where every rank has one.
  std::vector<double> rank_s;
  std::vector<Value> values;
  Stop stop = Stop::none;
  double elapsed_s = 0;
  std::vector<std::string> advice;
};

/// Samples of all ranks as they come in, at rank 0: the slowest rank of each and, in the end, each
/// rank's median.
class RankTimes {
 public:
  /// Takes one time per rank; the largest of them.
  double add(const std::vector<double>& everyone_s) {
    by_rank_.resize(everyone_s.size());
    for (std::size_t rank = 0; rank < everyone_s.size(); ++rank)
      by_rank_[rank].push_back(everyone_s[rank]);
    return everyone_s.empty() ? 0 : *std::ranges::max_element(everyone_s);
  }

  [[nodiscard]] std::vector<double> medians() {
    std::vector<double> found;
    for (auto& times : by_rank_) found.push_back(median(times));
    return found;
  }

 private:
  std::vector<std::vector<double>> by_rank_;
};

/// Measures one pattern at one point in batches; every rank calls it, and all stop together.
template <Transport T>
class Sampler {
 public:
  /// A batch lasts at least this many times the clock's resolution and overhead.
  static constexpr double clock_factor = 1000;
  /// Below this factor the clock itself is seen in the result, and an advice says so.
  static constexpr double coarse_factor = 100;
  /// The same for calls that are timed one by one.
  static constexpr double inner_factor = 0.1;

  Sampler(T& transport, const ClockQuality& clock, const Effort& effort)
      : transport_(transport), clock_(clock), effort_(effort), criterion_(effort) {}

  Measurement measure(Pattern& pattern, const PatternInfo& info) {
    Measurement result;
    const double began_s = transport_.now_s();
    result.verified = is_exact<T> || transport_.all(pattern.verify());
    if (!result.verified) return result;
    pattern.prepare();
    result.batch_rounds = grow(pattern, info);
    sample(pattern, info, result);
    result.values = pattern.values();
    result.elapsed_s = transport_.now_s() - began_s;
    advise(info, result);
    return result;
  }

 private:
  /// Time of one batch of rounds at this rank. Small batches begin with an untimed round, which
  /// leaves every rank in the step where the loop goes on: no skew of the barrier is timed.
  double batch_s(Pattern& pattern, std::uint64_t rounds) {
    transport_.barrier();
    if (rounds > 1) pattern.run(1);
    const double began_s = transport_.now_s();
    pattern.run(rounds);
    return transport_.now_s() - began_s;
  }

  /// At rank 0 the longest time of all ranks, where every rank has one: rank 0 may be idle.
  double longest_s(const PatternInfo& info, double own_s) {
    if (info.timing != Timing::slowest_rank) return own_s;
    const auto everyone_s = collect(transport_, std::span(&own_s, 1));
    return everyone_s.empty() ? own_s : *std::ranges::max_element(everyone_s);
  }

  /// Rounds per batch, so that a batch exceeds the clock's floor and `samples_max` batches fill the
  /// slice. Growing warms up caches, pages and connections.
  std::uint64_t grow(Pattern& pattern, const PatternInfo& info) {
    if constexpr (is_exact<T>) return info.rounds_min;
    const double target_s = std::max(
        clock_factor * clock_.floor_s(),
        clock_.floor_s() > 0 ? effort_.slice_s / static_cast<double>(effort_.samples_max) : 0);
    std::uint64_t rounds = info.rounds_min;
    for (bool growing = true; growing;) {
      const double spent_s = longest_s(info, batch_s(pattern, rounds));
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
    RankTimes ranks;
    double spent_s = 0;
    while (result.stop == Stop::none) {
      const double time_s = batch_s(pattern, result.batch_rounds);
      const double own_s = (info.timing == Timing::inner ? pattern.timed_s() : time_s) / operations;
      const bool everyone = info.timing != Timing::first_rank;
      const double sample_s =
          everyone ? ranks.add(collect(transport_, std::span(&own_s, 1))) : own_s;
      result.samples_s.push_back(sample_s);
      spent_s += std::max(time_s, everyone ? sample_s * operations : 0);
      if (transport_.rank() == 0) result.stop = criterion_.decide(result.samples_s, spent_s);
      share(transport_, result.stop);
    }
    result.rank_s = ranks.medians();
  }

  void advise(const PatternInfo& info, Measurement& result) const {
    // A copy, because the samples keep the order in which they were taken.
    auto ordered = result.samples_s;
    const double middle_s = median(ordered);
    const double batch_time_s = middle_s * static_cast<double>(result.batch_rounds) *
                                static_cast<double>(info.messages_per_round);
    // What a pattern times itself is a mean over readings, with their time taken off.
    const bool coarse = info.timing == Timing::inner
                            ? middle_s < inner_factor * clock_.floor_s()
                            : batch_time_s < coarse_factor * clock_.floor_s();
    if (coarse) result.advice.emplace_back("timer-coarse");
  }

  T& transport_;
  ClockQuality clock_;
  Effort effort_;
  Criterion criterion_;
};

}  // namespace nhalf
