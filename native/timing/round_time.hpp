// Starts all ranks at one time on the global clock.
#pragma once

#include "timing/global_clock.hpp"
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
    const double own_s = median(times_s);
    const auto everyone_s = collect(transport_, std::span(&own_s, 1));
    return everyone_s.empty() ? 0 : *std::ranges::max_element(everyone_s);
  }

  T& transport_;
  GlobalClock<T>& clock_;
  double reading_s_;
  double slack_min_s_ = 0;
  double slack_s_ = 0;
};
}  // namespace nhalf
