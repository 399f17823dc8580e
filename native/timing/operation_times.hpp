// Conditions under which single operations are timed, and their times, from when each rank was in
// it.
#pragma once

#include "timing/arrival.hpp"
#include "timing/global_clock.hpp"
#include "timing/sampler.hpp"
#include "timing/statistics.hpp"

namespace nhalf {
/// Round-Time (S. Hunold, A. Carpen-Amarie, "Hierarchical Clock Synchronization in MPI", CLUSTER
/// 2018): rank 0 announces when to start, a little later than its announcement takes to arrive. The
/// slack grows when a rank was told late, and shrinks slowly to its minimum while none is.
template <Transport T>
class RoundTime {
 public:
  struct Start {
    /// The first reading at or after the announced time, on this rank's own clock.
    double local_s = 0;
    /// Whether that is later than the clocks and their reading explain: this rank was told too
    /// late, or was preempted while it waited.
    bool late = false;
    /// Whether the time had passed when this rank learned of it.
    bool told_late = false;
  };

  /// Collective, on a synchronised clock that takes `reading_s` to read.
  RoundTime(T& transport, GlobalClock<T>& clock, double reading_s = 0)
      : transport_(transport), clock_(clock), reading_s_(reading_s) {
    slack_min_s_ = std::clamp(broadcasts_per_slack * broadcast_s(), slack_least_s, slack_most_s);
    slack_s_ = slack_min_s_;
  }

  /// Waits for the next start, on this rank for `delay_s` more; collective.
  Start start(double delay_s = 0) {
    transport_.barrier();
    double start_s = clock_.global_s(transport_.now_s()) + slack_s_;
    share(transport_, start_s);
    const double announced_s = clock_.local_s(start_s);
    const bool told_late = transport_.now_s() > announced_s;
    const double wake_s = announced_s + delay_s;
    const double started_s = idle_until(transport_, wake_s);
    const double allowed_s = clock_.uncertainty_s(started_s) + readings_allowed * reading_s_;
    return {started_s, told_late || started_s - wake_s > allowed_s, told_late};
  }

  /// Adapts the slack to the last start of all ranks.
  void adapt(bool somebody_was_told_late) {
    slack_s_ = std::clamp(slack_s_ * (somebody_was_told_late ? growth : decline), slack_min_s_,
                          slack_most_s);
  }

  [[nodiscard]] double slack_s() const { return slack_s_; }

 private:
  static constexpr double broadcasts_per_slack = 3;
  static constexpr double readings_allowed = 4;
  static constexpr double growth = 1.5;
  static constexpr double decline = 0.99;
  static constexpr double slack_least_s = 1e-6;
  static constexpr double slack_most_s = 0.1;
  static constexpr std::size_t broadcasts = 9;
  static constexpr double long_s = 0.01;

  /// Returns the median time from rank 0's call to the slowest rank's return, at rank 0 only. With
  /// oversubscription a broadcast takes long, and fewer are timed.
  double broadcast_s() {
    // Virtual waits cost nothing, and leave nothing on the way of what was before.
    if (is_exact<T> || has_virtual_clock(transport_)) return slack_most_s;
    struct Announcement {
      double sent_s = 0;
      bool last = false;
    } now;
    std::vector<double> times_s;
    const double start_s = transport_.now_s();
    while (!now.last) {
      transport_.barrier();
      const double now_s = transport_.now_s();
      now = {clock_.global_s(now_s), times_s.size() + 1 == broadcasts || now_s > start_s + long_s};
      share(transport_, now);
      times_s.push_back(clock_.global_s(transport_.now_s()) - now.sent_s);
    }
    return longest_of(collect_times(transport_, median(times_s)));
  }

  T& transport_;
  GlobalClock<T>& clock_;
  double reading_s_;
  double slack_min_s_ = 0;
  double slack_s_ = 0;
};

/// Conditions of timed operations, from a point's `operation_axes`.
struct Conditions {
  enum class Start { together, barrier, rotating };
  Start start = Start::together;
  bool cold = false;
  bool first_call = false;
  int root = 0;
  Arrival arrival{};

  /// Throws InputError if the axes ask for what operations of `ranks` ranks lack.
  static Conditions of(const PatternInfo& info, const Case& point, int ranks) {
    constexpr std::string_view starts[] = {"sync", "barrier", "rotating"};
    constexpr std::string_view buffers[] = {"warm", "cold"};
    constexpr std::string_view calls[] = {"steady", "first"};
    const Conditions conditions{.start = static_cast<Start>(point.choice("start", starts)),
                                .cold = point.choice("buffers", buffers) == 1,
                                .first_call = point.choice("call", calls) == 1,
                                .root = point.axes.number("root", 0),
                                .arrival = Arrival(point, ranks)};
    if (!conditions.arrival.is_together() && conditions.start != Start::together)
      throw InputError("axis arrival says when ranks start: leave axis start out");
    if (conditions.first_call && point.axes.text("algorithm", "native") != "native")
      throw InputError("call=first: only the library's own algorithm has anything made anew");
    if (conditions.root < 0 || conditions.root >= ranks)
      throw InputError("axis root is from 0 to " + std::to_string(ranks - 1) + " here");
    const bool rotates = conditions.start == Start::rotating;
    if (!info.rooted && (rotates || conditions.root != 0))
      throw InputError((rotates ? "start=rotating" : "axis root") + std::string(" needs a root, ") +
                       "and pattern " + std::string(info.name) + " has none");
    if (!rotates) return conditions;
    if (conditions.root != 0)
      throw InputError("start=rotating moves the root itself: leave axis root out");
    if (conditions.cold || conditions.first_call)
      throw InputError(
          "start=rotating times operations in a chain: buffers are warm and calls steady there");
    return conditions;
  }
};

/// When one rank was in an operation, in global time; every rank sends its own to rank 0.
struct Presence {
  double began_s = 0;
  double ended_s = 0;
  /// Duration on the rank's own clock.
  double own_s = 0;
  double uncertainty_s = 0;
  /// Whether the start was late, as in RoundTime::Start.
  bool late = false;
  bool told_late = false;
};

/// The times of one operation, from the presences of all ranks.
struct OperationTimes {
  double first_start_s = std::numeric_limits<double>::infinity();
  double last_start_s = -std::numeric_limits<double>::infinity();
  double last_end_s = -std::numeric_limits<double>::infinity();
  double slowest_own_s = 0;
  /// Largest and second largest uncertainty of all ranks.
  double worst_uncertainty_s = 0;
  double second_uncertainty_s = 0;
  /// Whether the start of any rank was late.
  bool late = false;
  bool told_late = false;

  explicit OperationTimes(std::span<const Presence> ranks) {
    for (const auto& rank : ranks) {
      first_start_s = std::min(first_start_s, rank.began_s);
      last_start_s = std::max(last_start_s, rank.began_s);
      last_end_s = std::max(last_end_s, rank.ended_s);
      slowest_own_s = std::max(slowest_own_s, rank.own_s);
      late = late || rank.late;
      told_late = told_late || rank.told_late;
      second_uncertainty_s =
          std::max(second_uncertainty_s, std::min(worst_uncertainty_s, rank.uncertainty_s));
      worst_uncertainty_s = std::max(worst_uncertainty_s, rank.uncertainty_s);
    }
  }

  [[nodiscard]] double span_s() const { return last_end_s - first_start_s; }
  [[nodiscard]] double skew_s() const { return last_start_s - first_start_s; }
  /// Returns the time from the last start on.
  [[nodiscard]] double since_last_start_s() const { return last_end_s - last_start_s; }
  /// Returns the uncertainty of a time that begins on one rank and ends on another: both their
  /// clocks together. It covers starts off the agreed time, unless these change the operation.
  [[nodiscard]] double uncertainty_s() const { return worst_uncertainty_s + second_uncertainty_s; }
};

/// Collects the samples of operations at rank 0.
class OperationSamples {
 public:
  void add(const OperationTimes& times, double sample_s, double true_s,
           const std::vector<double>& rank_s) {
    samples_s.push_back(sample_s);
    ranks_.add(rank_s);
    true_s_.push_back(true_s);
    skew_s_.push_back(times.skew_s());
    uncertainty_s_ = std::max(uncertainty_s_, times.uncertainty_s());
  }

  [[nodiscard]] std::vector<double> rank_medians() { return ranks_.medians(); }
  [[nodiscard]] double true_s() { return median(true_s_); }
  [[nodiscard]] double skew_s() { return median(skew_s_); }
  [[nodiscard]] double uncertainty_s() const { return uncertainty_s_; }

  std::vector<double> samples_s;

 private:
  RankTimes ranks_;
  std::vector<double> true_s_, skew_s_;
  double uncertainty_s_ = 0;
};
}  // namespace nhalf
