// Samples single operations of all ranks, from the first start to the last end.
#pragma once

#include "host/cache.hpp"
#include "timing/operation_times.hpp"

namespace nhalf {
/// Measures one operation per sample, every rank calls it, and all stop together.
///
/// start=sync: ranks start at an agreed time; a sample lasts from the first start to the last end
/// in global time. Samples at whose start a rank was late are not used.
/// start=barrier: the slowest rank's own time since the control barrier let it go, as the OSU and
/// Intel benchmarks have it; beside it `true_s`, from the first start to the last end.
/// start=rotating: p operations in a chain, each rooted at the rank that finished the one before
/// last, from the first start to the last end, divided by p. With an arrival that is not together a
/// sample lasts from the last start on, and `span_s` from the first. Between the two readings of a
/// time lies one reading of the clock, which is subtracted. Untimed work (agreeing, emptying
/// caches) counts a quarter against the slice.
///
/// Values: `clock_uncertainty_s`, how far a time can be wrong because of the clocks (the two
/// largest uncertainties together); `skew_s`, last start minus first start; `late_share` of starts.
template <Transport T>
class OperationSampler {
 public:
  /// Times below this multiple of the clock's floor get the advice timer-coarse.
  static constexpr double coarse_factor = 10;
  static constexpr double untimed_weight = 0.25;
  /// Clocks that may be wrong by more than this fraction of a time get the advice clocks-unsure.
  static constexpr double unsure_share = 0.5;
  static constexpr int warm_ups_usual = 2;
  static constexpr std::size_t few = 5;

  /// Between samples the `witness`, if there is one, looks at the state of the machine.
  OperationSampler(T& transport, const ClockQuality& quality, const Effort& effort,
                   GlobalClock<T>& clock, Witness<T>* witness = nullptr)
      : transport_(transport),
        quality_(quality),
        effort_(effort),
        clock_(clock),
        criterion_(effort),
        witness_(witness) {}

  /// Measures a point. Throws InputError if its axes ask for what pattern or transport lack.
  Measurement measure(Pattern& pattern, const PatternInfo& info, const Case& point) {
    prepare(info, point);
    Measurement result;
    const double start_s = transport_.now_s();
    Verification verification(transport_, quality_, effort_);
    result.verified = verification.before(pattern);
    if (!result.verified) return result;
    pattern.root_at(conditions_.root);
    pattern.prepare();
    clock_.refresh();
    end_ = {};
    if (conditions_.start != Start::barrier)
      round_.emplace(transport_, clock_, quality_.overhead_s);
    if (conditions_.start == Start::rotating) find_chain(pattern);
    sample(pattern, result);
    for (auto& value : pattern.values()) result.values.push_back(std::move(value));
    pattern.root_at(0);
    if (!verification.after(pattern)) return {};
    result.elapsed_s = transport_.now_s() - start_s;
    return result;
  }

 private:
  using Start = Conditions::Start;

  /// The decisions of rank 0 after each operation.
  struct Verdict {
    double span_s = 0;
    Stop stop = Stop::none;
    bool told_late = false;
    bool clock_stale = false;
    bool looks = false;
  };

  void prepare(const PatternInfo& info, const Case& point) {
    conditions_ = Conditions::of(info, point, transport_.size());
    if (conditions_.first_call && !renews)
      throw InputError("call=first: this transport prepares nothing that could be made anew");
    if (!conditions_.cold || Idling<T>) return;
    bool enough = true;
    try {
      filler_.emplace(point.ranks_beside(transport_.rank(), transport_.size()));
    } catch (const std::bad_alloc&) {
      enough = false;
    }
    if (!transport_.all(enough))
      throw InputError(
          "buffers=cold: so many ranks have no memory to empty their caches with: start fewer per "
          "host");
  }

  void sample(Pattern& pattern, Measurement& result) {
    OperationSamples good, late;
    const double began_s = transport_.now_s();
    double timed_s = 0;
    const int warm_ups = this->warm_ups();
    for (int turn = 0; result.stop == Stop::none; ++turn) {
      const auto everyone = operate(pattern, turn >= warm_ups);
      Verdict verdict;
      if (transport_.rank() == 0) {
        const OperationTimes times(everyone);
        verdict.span_s = times.span_s();
        verdict.told_late = times.told_late;
        verdict.clock_stale = clock_.stale(times.worst_uncertainty_s);
        if (turn >= warm_ups) {
          keep(times, everyone, times.late ? late : good);
          timed_s += times.span_s();
          verdict.stop = decide(good, late, timed_s, transport_.now_s() - began_s);
          verdict.looks = witness_ != nullptr && witness_->due(timed_s, effort_.slice_s);
        }
      }
      share(transport_, verdict);
      end_.took(verdict.span_s);
      if (round_) round_->adapt(verdict.told_late);
      if (verdict.clock_stale) clock_.synchronise();
      if (verdict.looks) witness_->look();
      result.stop = verdict.stop;
    }
    if (transport_.rank() == 0) report(good, late, result);
  }

  /// Number of operations before the first sample, which fill caches and set up connections.
  [[nodiscard]] int warm_ups() const {
    if constexpr (requires { transport_.sets_up(); }) {
      return transport_.sets_up() ? 1 : 0;
    } else {
      return warm_ups_usual;
    }
  }

  /// Decides by samples on time, but ends a point whose every start is late, too.
  Stop decide(const OperationSamples& good, const OperationSamples& late, double timed_s,
              double all_s) {
    const auto count = good.samples_s.size() + late.samples_s.size();
    double spent_s = timed_s;
    if (count >= std::min(effort_.samples_min, few))
      spent_s = std::max(spent_s, untimed_weight * all_s);
    if (!good.samples_s.empty()) return criterion_.decide(good.samples_s, spent_s);
    const bool over = spent_s >= effort_.slice_s || count >= 10 * effort_.samples_max;
    return over ? Stop::time : Stop::none;
  }

  /// Runs the operation (or the chain) once and returns every rank's presence, at rank 0 only.
  std::vector<Presence> operate(Pattern& pattern, bool in_condition) {
    if (in_condition && filler_) filler_->fill();
    if constexpr (renews) {
      if (in_condition && conditions_.first_call) transport_.renew_collectives();
    }
    typename RoundTime<T>::Start start;
    if (round_) {
      start = round_->start(
          conditions_.arrival.delay_s(transport_.rank(), transport_.size(), operations_++));
    } else {
      transport_.barrier();
      start.local_s = transport_.now_s();
    }
    run(pattern);
    const double ended_s = transport_.now_s();
    const Presence own{.began_s = clock_.global_s(start.local_s),
                       .ended_s = clock_.global_s(ended_s),
                       .own_s = ended_s - start.local_s,
                       .uncertainty_s = clock_.uncertainty_s(ended_s),
                       .late = start.late,
                       .told_late = start.told_late};
    end_.wait(transport_, start.local_s);
    return gathered(own);
  }

  void run(Pattern& pattern) {
    if (chain_.empty()) pattern.run(1);
    for (const int root : chain_) {
      pattern.root_at(root);
      pattern.run(1);
    }
  }

  std::vector<Presence> gathered(const Presence& own) {
    const std::array numbers{own.began_s,       own.ended_s,          own.own_s,
                             own.uncertainty_s, own.late ? 1.0 : 0.0, own.told_late ? 1.0 : 0.0};
    const auto all = collect(transport_, std::span<const double>(numbers));
    std::vector<Presence> everyone;
    for (std::size_t i = 0; i < all.size(); i += numbers.size())
      everyone.push_back(
          {all[i], all[i + 1], all[i + 2], all[i + 3], all[i + 4] > 0, all[i + 5] > 0});
    return everyone;
  }

  /// Returns the time of one operation, less the reading of the clock within it.
  [[nodiscard]] double net_s(double time_s) const {
    const auto operations = static_cast<double>(std::max<std::size_t>(1, chain_.size()));
    return std::max(0.0, quality_.between_s(time_s)) / operations;
  }

  void keep(const OperationTimes& times, const std::vector<Presence>& everyone,
            OperationSamples& samples) const {
    const bool own = conditions_.start == Start::barrier;
    const bool comes_alone = !conditions_.arrival.is_together();
    std::vector<double> rank_s;
    for (const auto& rank : everyone)
      if (chain_.empty())
        rank_s.push_back(
            net_s(own || comes_alone ? rank.own_s : rank.ended_s - times.first_start_s));
    const double sample_s = own           ? times.slowest_own_s
                            : comes_alone ? times.since_last_start_s()
                                          : times.span_s();
    samples.add(times, net_s(sample_s), net_s(times.span_s()), rank_s);
  }

  void report(OperationSamples& good, OperationSamples& late, Measurement& result) const {
    const auto good_count = static_cast<double>(good.samples_s.size());
    const auto late_count = static_cast<double>(late.samples_s.size());
    auto& used = good.samples_s.empty() ? late : good;
    result.rank_s = used.rank_medians();
    const auto operations = static_cast<double>(std::max<std::size_t>(1, chain_.size()));
    result.values = {{"clock_uncertainty_s", used.uncertainty_s() / operations},
                     {"skew_s", used.skew_s()}};
    if (conditions_.start == Start::barrier) {
      result.values.push_back({"true_s", used.true_s()});
    } else {
      result.values.push_back({"late_share", late_count / (good_count + late_count)});
    }
    if (!conditions_.arrival.is_together()) result.values.push_back({"span_s", used.true_s()});
    result.samples_s = std::move(used.samples_s);
    advise(result, used.uncertainty_s() / operations, good_count == 0);
  }

  void advise(Measurement& result, double uncertainty_s, bool none_on_time) const {
    auto ordered = result.samples_s;
    const double time_s = median(ordered);
    if (time_s < coarse_factor * quality_.floor_s()) result.advice.emplace_back("timer-coarse");
    if (none_on_time) result.advice.emplace_back("late-starts");
    if (conditions_.start != Start::barrier && uncertainty_s > unsure_share * time_s)
      result.advice.emplace_back("clocks-unsure");
  }

  /// Finds the order of roots: each operation is rooted where the one before it ended last.
  void find_chain(Pattern& pattern) {
    constexpr int trials = 5;
    std::vector<int> last(static_cast<std::size_t>(transport_.size()));
    const double start_s = transport_.now_s();
    for (std::size_t root = 0; root < last.size(); ++root) {
      bool is_late = transport_.now_s() - start_s > effort_.slice_s;
      share(transport_, is_late);
      last[root] = last_rank(pattern, static_cast<int>(root), is_late ? 1 : trials);
    }
    int root = 0;
    chain_.clear();
    for (std::size_t i = 0; i < last.size(); ++i) {
      chain_.push_back(root);
      root = last[static_cast<std::size_t>(root)];
    }
  }

  /// Returns the rank that finishes last, by the medians of `trials` operations with this root.
  int last_rank(Pattern& pattern, int root, int trials) {
    RankTimes ranks;
    chain_ = {root};
    for (int i = 0; i < trials; ++i) {
      const auto everyone = operate(pattern, false);
      const OperationTimes times(everyone);
      std::vector<double> rank_s;
      for (const auto& rank : everyone) rank_s.push_back(rank.ended_s - times.first_start_s);
      ranks.add(rank_s);
      bool told_late = times.told_late;
      share(transport_, told_late);
      round_->adapt(told_late);
    }
    const auto medians = ranks.medians();
    int last = static_cast<int>(std::ranges::max_element(medians) - medians.begin());
    share(transport_, last);
    return last;
  }

  static constexpr bool renews = requires(T& transport) { transport.renew_collectives(); };

  T& transport_;
  ClockQuality quality_;
  Effort effort_;
  GlobalClock<T>& clock_;
  Criterion criterion_;
  Witness<T>* witness_;
  Conditions conditions_;
  std::optional<RoundTime<T>> round_;
  QuietEnd end_;
  std::optional<CacheFiller> filler_;
  /// Roots of consecutive operations; empty if the root stays.
  std::vector<int> chain_;
  /// How many there have been, in which ranks come at random.
  std::uint64_t operations_ = 0;
};
}  // namespace nhalf
