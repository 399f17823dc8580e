// The sampling loop: verify, grow the batch, sample until the criterion says stop.
#pragma once

#include "timing/verification.hpp"
#include "timing/witness.hpp"

namespace nhalf {
/// A rank that is done sends what it saw to rank 0, and this message would share links and adapters
/// with the last messages of what is measured. So it waits for as long as that took all ranks
/// before: the shorter of the last two times, for one that was interrupted says nothing.
class QuietEnd {
 public:
  /// Takes note of how long everything took, from the first start to the last end.
  void took(double span_s) {
    expected_s_ = std::min(span_s, last_s_);
    last_s_ = span_s;
  }

  /// Waits at a rank that began then by its own clock.
  template <Transport T>
  void wait(T& transport, double began_s) const {
    if (expected_s_ > 0) idle_until(transport, began_s + expected_s_);
  }

 private:
  double last_s_ = std::numeric_limits<double>::infinity();
  double expected_s_ = 0;
};

/// The result of one point: samples in seconds per operation, at rank 0 only.
struct Measurement {
  bool verified = false;
  std::uint64_t batch_rounds = 1;
  std::vector<double> samples_s;
  /// Median time of each rank, if every rank has one.
  std::vector<double> rank_s;
  std::vector<Value> values;
  Stop stop = Stop::none;
  double elapsed_s = 0;
  std::vector<std::string> advice;
};

/// Measures one pattern at one point in batches. Every rank calls it, and all stop together.
template <Controlled T>
class Sampler {
 public:
  /// A batch lasts at least this many times the clock's resolution and overhead.
  static constexpr double clock_factor = 1000;
  /// Batches below this factor get the advice timer-coarse, since the clock influences them.
  static constexpr double coarse_factor = 100;
  /// Mean times of single calls below this factor get the advice timer-coarse.
  static constexpr double inner_factor = 0.1;

  /// Between samples the `witness`, if there is one, looks at the state of the machine.
  Sampler(T& transport, const ClockQuality& clock, const Effort& effort,
          Witness<T>* witness = nullptr)
      : transport_(transport),
        clock_(clock),
        effort_(effort),
        criterion_(effort),
        witness_(witness) {}

  Measurement measure(Pattern& pattern, const PatternInfo& info) {
    Measurement result;
    const double start_s = transport_.now_s();
    if (info.whole_runs) {
      sample_runs(pattern, result);
      result.values = pattern.values();
    } else {
      Verification verification(transport_, clock_, effort_);
      result.verified = verification.before(pattern);
      if (!result.verified) return result;
      pattern.prepare();
      const auto batch = grow(pattern, info);
      result.batch_rounds = batch.rounds;
      sample(pattern, info, batch, result);
      // Further rounds would count in some patterns' values.
      result.values = pattern.values();
      if (!verification.after(pattern)) return {};
    }
    result.elapsed_s = transport_.now_s() - start_s;
    if (!result.samples_s.empty()) advise(info, result);
    return result;
  }

 private:
  /// Rounds that are timed together; they settle if the skew of the barrier would influence them.
  struct Batch {
    std::uint64_t rounds = 1;
    bool settles = false;
  };

  /// The state of growing, which rank 0 shares.
  struct Growth {
    Batch batch;
    /// Shortest time of all trials with this number of rounds.
    double least_s = std::numeric_limits<double>::infinity();
    int trials = 0;
    bool done = false;
  };

  /// The decisions of rank 0 after each sample.
  struct Verdict {
    double span_s = 0;
    Stop stop = Stop::none;
    bool looks = false;
  };

  /// Longest usual interruption by another process, which must not pass for a long batch.
  static constexpr double interruption_s = 0.05;
  static constexpr int trials_enough = 3;
  /// Rounds that take no time, as of loops over no data, would never be enough.
  static constexpr double rounds_most = 0x1p40;
  /// Ratio of a batch to the time of a barrier beyond which the skew of the barrier is negligible.
  static constexpr double skew_factor = 1000;
  /// In virtual time, by when all ranks know when to start.
  static constexpr double virtual_slack_s = 0.1;

  /// Times one batch at this rank, less the reading of the clock within it.
  double batch_s(Pattern& pattern, const Batch& batch) {
    transport_.barrier();
    if (batch.settles) pattern.settle();
    if constexpr (Transport<T>) start_together();
    began_s_ = transport_.now_s();
    pattern.run(batch.rounds);
    return clock_.between_s(transport_.now_s() - began_s_);
  }

  /// Starts all ranks at one time where they have one clock that is virtual: what a barrier leaves
  /// between them, or a batch before on the way, would be part of a batch of one round.
  void start_together() {
    if (!is_exact<T> && !has_virtual_clock(transport_)) return;
    double start_s = transport_.now_s() + virtual_slack_s;
    share(transport_, start_s);
    idle_until(transport_, start_s);
  }

  /// Returns the shortest time of some barriers, which bounds the skew that one leaves.
  double barrier_s() {
    double least_s = std::numeric_limits<double>::infinity();
    transport_.barrier();
    for (int trial = 0; trial < trials_enough; ++trial) {
      const double start_s = transport_.now_s();
      transport_.barrier();
      least_s = std::min(least_s, transport_.now_s() - start_s);
    }
    return least_s;
  }

  /// Returns, at rank 0, the longest time of all ranks if every rank has one: rank 0 may be idle.
  double longest_s(const PatternInfo& info, double own_s) {
    if (info.timing != Timing::slowest_rank) return own_s;
    return longest_of(collect_times(transport_, own_s));
  }

  /// Returns how long a batch has to last to exceed the clock's floor and for `samples_max` batches
  /// to fill the slice; 0 on a virtual clock, where one round is as good as many.
  [[nodiscard]] double target_s() const {
    if (clock_.floor_s() == 0) return 0;
    return std::max(clock_factor * clock_.floor_s(),
                    effort_.slice_s / static_cast<double>(effort_.samples_max));
  }

  /// Returns a batch that is long enough in the shortest of some trials, since another process may
  /// interrupt a single one. Growing warms up caches, pages and connections.
  Batch grow(Pattern& pattern, const PatternInfo& info) {
    Growth growth{.batch = {info.rounds_min, info.rounds_min > 1}};
    if constexpr (is_exact<T>) return growth.batch;
    const double skew_s = target_s() > 0 ? barrier_s() : 0;
    while (!growth.done) {
      const double spent_s = longest_s(info, batch_s(pattern, growth.batch));
      growth.least_s = std::min(growth.least_s, spent_s);
      if (transport_.rank() == 0) go_on(growth, skew_s);
      share(transport_, growth);
    }
    return growth.batch;
  }

  /// Decides whether to grow, to try again, or to stop.
  void go_on(Growth& growth, double skew_s) const {
    const auto rounds = rounds_after(growth.batch.rounds, growth.least_s);
    if (rounds > growth.batch.rounds) {
      growth = {.batch = {rounds, true}};
      return;
    }
    ++growth.trials;
    growth.batch.settles =
        rounds > 1 || growth.least_s < std::min(skew_factor * skew_s, interruption_s);
    growth.done = target_s() == 0 || growth.trials == trials_enough ||
                  growth.least_s > std::max(effort_.slice_s, interruption_s);
  }

  /// Returns how many rounds are needed if `rounds` took `spent_s`, at most eight times as many.
  [[nodiscard]] std::uint64_t rounds_after(std::uint64_t rounds, double spent_s) const {
    if (spent_s >= target_s() || spent_s > target_s() * 0.8) return rounds;
    const auto now = static_cast<double>(rounds);
    const double needed = std::ceil(target_s() / std::max(spent_s, clock_.floor_s()) * now);
    return static_cast<std::uint64_t>(std::min({needed, 8 * now, std::max(rounds_most, now)}));
  }

  /// Returns the shortest time of the rounds to be taken off, with their acknowledgement, at this
  /// rank; 0 if a batch has none.
  double acknowledged_s(Pattern& pattern, const PatternInfo& info) {
    if (!info.acknowledged) return 0;
    double least_s = std::numeric_limits<double>::infinity();
    for (int trial = 0; trial < trials_enough; ++trial)
      least_s = std::min(least_s, batch_s(pattern, {info.taken_off(), true}));
    return least_s;
  }

  /// Returns the time of one operation of a batch if the rounds to be taken off for each of its
  /// acknowledgements took `short_s`.
  static double operation_s(const PatternInfo& info, std::uint64_t rounds, double time_s,
                            double short_s) {
    const auto windows = info.window > 0 ? (rounds + info.window - 1) / info.window : 1;
    const auto taken_off = windows * info.taken_off();
    const double taken_off_s = static_cast<double>(windows) * short_s;
    const bool takes_off = short_s > 0 && taken_off_s < time_s && rounds > taken_off;
    const double left_s = takes_off ? time_s - taken_off_s : time_s;
    const auto timed_rounds = takes_off ? rounds - taken_off : rounds;
    return left_s /
           (static_cast<double>(timed_rounds) * static_cast<double>(info.messages_per_round));
  }

  void sample(Pattern& pattern, const PatternInfo& info, const Batch& batch, Measurement& result) {
    const double operations =
        static_cast<double>(batch.rounds) * static_cast<double>(info.messages_per_round);
    const double short_s = acknowledged_s(pattern, info);
    result.samples_s.reserve(effort_.samples_max);
    RankTimes ranks;
    double spent_s = 0;
    QuietEnd end;
    Verdict verdict;
    while (verdict.stop == Stop::none) {
      if (verdict.looks) witness_->look();
      const double time_s = batch_s(pattern, batch);
      auto own_s = info.timing == Timing::inner ? pattern.timed_s() : time_s;
      if (own_s) *own_s = operation_s(info, batch.rounds, *own_s, short_s);
      const bool everyone = info.timing != Timing::first_rank;
      if constexpr (Transport<T>)
        if (everyone) end.wait(transport_, began_s_);
      const auto singles_s = pattern.operations_s();
      double sample_s = 0;
      if (!singles_s.empty()) {
        result.batch_rounds = 1;
        add_means(singles_s, result.samples_s);
      } else {
        sample_s = everyone ? ranks.add(collect_times(transport_, own_s)) : *own_s;
        result.samples_s.push_back(sample_s);
      }
      verdict.span_s = std::max(time_s, everyone ? sample_s * operations : 0);
      spent_s += verdict.span_s;
      if (transport_.rank() == 0) {
        verdict.stop = criterion_.decide(result.samples_s, spent_s);
        verdict.looks = witness_ != nullptr && witness_->due(spent_s, effort_.slice_s);
      }
      share(transport_, verdict);
      end.took(verdict.span_s);
    }
    result.stop = verdict.stop;
    result.rank_s = ranks.medians();
  }

  /// Adds each operation's mean time over the ranks that had a part in it, but for those that are
  /// no sample at one of them; at rank 0 only. In the mean it does not matter which of two ranks
  /// was ahead, as one of them stays where each waits for the other.
  void add_means(std::span<const double> mine_s, std::vector<double>& samples_s) {
    const auto everyone_s = collect(transport_, mine_s);
    for (std::size_t operation = 0; operation < mine_s.size(); ++operation) {
      double sum_s = 0;
      int count = 0;
      for (std::size_t at = operation; at < everyone_s.size(); at += mine_s.size()) {
        if (everyone_s[at] < 0) continue;
        sum_s += everyone_s[at];
        ++count;
      }
      if (count > 0 && !std::isnan(sum_s)) samples_s.push_back(sum_s / count);
    }
  }

  /// Samples whole runs until there are enough, or one is not verified.
  void sample_runs(Pattern& pattern, Measurement& result) {
    RankTimes ranks;
    const double began_s = transport_.now_s();
    while (result.stop == Stop::none) {
      pattern.prepare();
      result.samples_s.push_back(ranks.add(collect_times(transport_, batch_s(pattern, {}))));
      result.verified = transport_.all(pattern.verify());
      if (transport_.rank() == 0)
        result.stop = result.verified
                          ? criterion_.decide(result.samples_s, transport_.now_s() - began_s)
                          : Stop::samples;
      share(transport_, result.stop);
    }
    // Threads that count as ranks have one clock.
    if (auto medians_s = ranks.medians(); medians_s.size() > 1)
      result.rank_s = std::move(medians_s);
  }

  void advise(const PatternInfo& info, Measurement& result) const {
    // The samples keep the order in which they were taken, so a copy is sorted.
    auto ordered = result.samples_s;
    const double middle_s = median(ordered);
    const double batch_time_s = middle_s * static_cast<double>(result.batch_rounds) *
                                static_cast<double>(info.messages_per_round);
    // A pattern that times itself returns a mean over readings, less their overhead.
    const bool coarse = info.timing == Timing::inner
                            ? middle_s < inner_factor * clock_.floor_s()
                            : batch_time_s < coarse_factor * clock_.floor_s();
    if (coarse) result.advice.emplace_back("timer-coarse");
  }

  T& transport_;
  ClockQuality clock_;
  Effort effort_;
  Criterion criterion_;
  Witness<T>* witness_;
  /// When this rank began the latest batch.
  double began_s_ = 0;
};
}  // namespace nhalf
