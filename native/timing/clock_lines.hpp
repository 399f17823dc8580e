// The offset between two clocks as the set of all straight lines that no exchange contradicts.
#pragma once

#include <cmath>

#include "contract/vocabulary.hpp"

namespace nhalf {
/// The bounds that a burst of exchanges proved: the offset (reference minus local) is at most
/// `high_s` when the local clock shows `high_at_s`, and at least `low_s` when it shows `low_at_s`.
struct OffsetGate {
  double low_at_s = 0, low_s = 0;
  double high_at_s = 0, high_s = 0;

  [[nodiscard]] double at_s() const { return (low_at_s + high_at_s) / 2; }
  [[nodiscard]] double width_s() const { return high_s - low_s; }
};

/// Offset of a reference clock against the local one, as a set of lines offset + drift * time.
///
/// Every gate cuts the convex polygon of lines in the plane of offset and drift; its corners are
/// the extreme lines, so at any time the offset lies between the least and the greatest of their
/// values (the feasible lines of L. Zhang, Z. Liu, C. Honghui Xia, "Clock Synchronization
/// Algorithms for Network Measurements", INFOCOM 2002). Before a second gate the drift is within
/// `drift_max`. Real drifts change with the temperature: t seconds away from the latest gate the
/// offset may deviate by drift_change_per_s * t^2 / 2. Without any gate the clocks are one.
/// Trivially copyable, so that it can be sent.
class ClockLines {
 public:
  /// Largest drift of two crystals, with what a time daemon may slew one of them by.
  static constexpr double drift_max = 5e-4;
  static constexpr double drift_change_per_s = 1e-8;
  static constexpr std::size_t gates_max = 8;

  struct Interval {
    double low_s = 0;
    double high_s = 0;
    [[nodiscard]] double middle_s() const { return low_s + (high_s - low_s) / 2; }
    [[nodiscard]] double half_width_s() const { return (high_s - low_s) / 2; }
  };

  /// Adds a burst later than all before. If it contradicts them, a clock was set or changed its
  /// speed, and only the latest burst holds.
  void add(const OffsetGate& gate) {
    if (gate_count_ == gates_max) forget_gate(gate.at_s());
    gates_[gate_count_++] = gate;
    draw();
    if (corner_count_ > 0) return;
    gates_[0] = gate;
    gate_count_ = 1;
    draw();
    // Of one that contradicts itself its bounds remain.
    if (corner_count_ == 0)
      set_rectangle(std::min(gate.low_s, gate.high_s), std::max(gate.low_s, gate.high_s));
  }

  [[nodiscard]] std::size_t gates() const { return gate_count_; }

  /// Returns the possible offsets when the local clock shows `local_s`.
  [[nodiscard]] Interval between(double local_s) const {
    if (corner_count_ == 0) return {};
    const double away_s = local_s - centre_s_;
    Interval interval{corners_[0].at(away_s), corners_[0].at(away_s)};
    for (const auto& corner : std::span(corners_).first(corner_count_)) {
      interval.low_s = std::min(interval.low_s, corner.at(away_s));
      interval.high_s = std::max(interval.high_s, corner.at(away_s));
    }
    return {interval.low_s - deviation_s(away_s), interval.high_s + deviation_s(away_s)};
  }

 private:
  struct Corner {
    double offset_s = 0;
    double drift_share = 0;
    [[nodiscard]] double at(double away_s) const { return offset_s + drift_share * away_s; }
  };
  /// A rectangle has four corners; each cut of a convex polygon adds one, with rounding perhaps
  /// two.
  static constexpr std::size_t corners_max = 4 + 4 * gates_max;

  static double deviation_s(double away_s) { return drift_change_per_s * away_s * away_s / 2; }

  /// Forgets the wider of the two gates that are closest together for their age, so that gates stay
  /// spread over their ages.
  void forget_gate(double now_s) {
    std::size_t closest = 0;
    double least = 2;
    for (std::size_t i = 0; i + 1 < gate_count_; ++i) {
      const double age_s = now_s - gates_[i].at_s();
      const double apart = age_s > 0 ? (gates_[i + 1].at_s() - gates_[i].at_s()) / age_s : 0;
      if (apart < least) {
        least = apart;
        closest = i;
      }
    }
    if (gates_[closest + 1].width_s() > gates_[closest].width_s()) ++closest;
    std::copy(gates_.begin() + closest + 1, gates_.begin() + gate_count_, gates_.begin() + closest);
    --gate_count_;
  }

  /// Cuts the polygon by all gates, with its origin at the latest one.
  void draw() {
    const auto& latest = gates_[gate_count_ - 1];
    centre_s_ = latest.at_s();
    // Further than any drift leads within a gate, so that the gates alone decide.
    const double margin_s =
        std::abs(latest.width_s()) + std::abs(latest.high_at_s - latest.low_at_s);
    set_rectangle(latest.low_s - margin_s, latest.high_s + margin_s);
    for (const auto& gate : std::span(gates_).first(gate_count_)) {
      const double high_away_s = gate.high_at_s - centre_s_;
      const double low_away_s = gate.low_at_s - centre_s_;
      cut(high_away_s, gate.high_s + deviation_s(high_away_s), 1);
      cut(low_away_s, gate.low_s - deviation_s(low_away_s), -1);
    }
  }

  void set_rectangle(double low_s, double high_s) {
    corners_[0] = {low_s, -drift_max};
    corners_[1] = {high_s, -drift_max};
    corners_[2] = {high_s, drift_max};
    corners_[3] = {low_s, drift_max};
    corner_count_ = 4;
  }

  /// Keeps the lines below (side 1) or above (side -1) of a bound at one time (I. Sutherland,
  /// G. Hodgman, "Reentrant Polygon Clipping", CACM 17 (1974) 32).
  void cut(double away_s, double bound_s, double side) {
    const auto before = corners_;
    const std::size_t count = corner_count_;
    const auto beyond = [&](const Corner& c) { return side * (c.at(away_s) - bound_s); };
    corner_count_ = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto& corner = before[i];
      const auto& next = before[(i + 1) % count];
      const double here_beyond = beyond(corner);
      const double next_beyond = beyond(next);
      if (here_beyond <= 0) keep(corner);
      if (here_beyond * next_beyond >= 0) continue;
      const double share = here_beyond / (here_beyond - next_beyond);
      keep({corner.offset_s + share * (next.offset_s - corner.offset_s),
            corner.drift_share + share * (next.drift_share - corner.drift_share)});
    }
  }

  void keep(const Corner& corner) { corners_.at(corner_count_++) = corner; }

  std::array<OffsetGate, gates_max> gates_{};
  std::size_t gate_count_ = 0;
  std::array<Corner, corners_max> corners_{};
  std::size_t corner_count_ = 0;
  double centre_s_ = 0;
};
}  // namespace nhalf
