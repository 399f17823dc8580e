#include "timing/clock_lines.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using nhalf::ClockLines;
using nhalf::OffsetGate;

namespace {

using Random = std::mt19937_64;

double evenly(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// A line of offsets and gates that it passes through.
struct Truth {
  double offset_s = 0;
  double drift_share = 0;

  [[nodiscard]] double at(double local_s) const { return offset_s + drift_share * local_s; }

  /// A burst that begins at `local_s`: bounds up to `slack_s` off, up to 1 ms apart.
  [[nodiscard]] OffsetGate gate(double local_s, double slack_s, Random& random) const {
    const double low_at_s = local_s + evenly(random, 0, 1e-3);
    const double high_at_s = local_s + evenly(random, 0, 1e-3);
    return {low_at_s, at(low_at_s) - evenly(random, 0, slack_s), high_at_s,
            at(high_at_s) + evenly(random, 0, slack_s)};
  }
};

Truth any_truth(Random& random) {
  return {evenly(random, -1, 1), evenly(random, -ClockLines::drift_max, ClockLines::drift_max)};
}

bool holds(const ClockLines& lines, const Truth& truth, double local_s) {
  const auto found = lines.between(local_s);
  const double rounding_s = 1e-13;
  return found.low_s - rounding_s <= truth.at(local_s) &&
         truth.at(local_s) <= found.high_s + rounding_s;
}

}  // namespace

TEST_CASE("without any gate the clocks are one") {
  const auto found = ClockLines{}.between(12.5);
  CHECK(found.low_s == 0);
  CHECK(found.high_s == 0);
}

TEST_CASE("one gate says nothing about the drift: it may be anything up to the largest") {
  ClockLines lines;
  lines.add({.low_at_s = 3, .low_s = 0.5 - 1e-6, .high_at_s = 3, .high_s = 0.5 + 2e-6});
  CHECK(lines.between(3).low_s == doctest::Approx(0.5 - 1e-6).epsilon(1e-12));
  CHECK(lines.between(3).high_s == doctest::Approx(0.5 + 2e-6).epsilon(1e-12));
  for (const double later_s : {-1.0, 1.0}) {
    const double grown_s = ClockLines::drift_max + ClockLines::drift_change_per_s / 2;
    CHECK(lines.between(3 + later_s).half_width_s() ==
          doctest::Approx(1.5e-6 + grown_s).epsilon(1e-9));
  }
}

TEST_CASE("two gates: the extreme lines pass through opposite corners") {
  ClockLines lines;
  lines.add({0, -1e-6, 0, 1e-6});
  lines.add({1, 9e-6, 1, 11e-6});
  // A line through (0, -1) and (1, 11) rises by 12 in a second; the older gate is wider by what
  // drifts may change.
  const double wider_s = ClockLines::drift_change_per_s / 2;
  CHECK(lines.between(1).high_s == doctest::Approx(11e-6).epsilon(1e-9));
  CHECK(lines.between(2).high_s == doctest::Approx(23e-6 + 2 * wider_s).epsilon(1e-9));
  CHECK(lines.between(2).low_s == doctest::Approx(17e-6 - 2 * wider_s).epsilon(1e-9));
}

TEST_CASE("the truth is never cut off, whatever the gates") {
  Random random(1);
  for (int trial = 0; trial < 1000; ++trial) {
    const auto truth = any_truth(random);
    ClockLines lines;
    double now_s = evenly(random, 0, 100);
    const int gates = std::uniform_int_distribution<int>(1, 20)(random);
    for (int i = 0; i < gates; ++i) {
      lines.add(truth.gate(now_s, evenly(random, 1e-8, 1e-4), random));
      for (const double away_s : {-50.0, -0.1, 0.0, 1e-3, 1.0, 30.0})
        CHECK(holds(lines, truth, now_s + away_s));
      now_s += evenly(random, 0.001, 2);
    }
  }
}

TEST_CASE("the interval is as narrow as the gates allow: lines reach both of its ends") {
  Random random(2);
  for (int trial = 0; trial < 20; ++trial) {
    const auto truth = any_truth(random);
    std::vector<OffsetGate> gates;
    ClockLines lines;
    for (const double at_s : {0.0, 0.01, 0.03}) {
      gates.push_back(truth.gate(at_s, 1e-5, random));
      lines.add(gates.back());
    }
    const double asked_s = 0.05;
    double least_s = 1, greatest_s = -1;
    for (int i = 0; i < 200000; ++i) {
      const double drift =
          truth.drift_share + evenly(random, -2 * ClockLines::drift_max, 2 * ClockLines::drift_max);
      if (std::abs(drift) > ClockLines::drift_max) continue;
      const Truth line{truth.at(0) + evenly(random, -3e-5, 3e-5), drift};
      const bool possible = std::ranges::all_of(gates, [&](const OffsetGate& gate) {
        return line.at(gate.low_at_s) >= gate.low_s && line.at(gate.high_at_s) <= gate.high_s;
      });
      if (!possible) continue;
      least_s = std::min(least_s, line.at(asked_s));
      greatest_s = std::max(greatest_s, line.at(asked_s));
    }
    const auto found = lines.between(asked_s);
    const double tenth_s = (found.high_s - found.low_s) / 10;
    CHECK(found.low_s <= least_s + 1e-12);
    CHECK(found.low_s >= least_s - tenth_s);
    CHECK(found.high_s >= greatest_s - 1e-12);
    CHECK(found.high_s <= greatest_s + tenth_s);
  }
}

TEST_CASE("over seconds the drift becomes known, and stays known") {
  Random random(3);
  const Truth truth{0.25, 8e-5};
  ClockLines lines;
  double now_s = 0;
  for (int i = 0; i < 1000; ++i, now_s += 0.5) {
    lines.add(truth.gate(now_s, 1e-6, random));
    CHECK(lines.gates() <= ClockLines::gates_max);
    if (now_s < 5) continue;
    // A second later no more than what the gates leave open: not 500, but 2 microseconds.
    CHECK(lines.between(now_s + 1).half_width_s() < 2e-6);
  }
}

TEST_CASE("a drift that changes as fast as is allowed does not lead out of the interval") {
  ClockLines lines;
  const auto at = [](double local_s) {
    return 1e-5 * local_s + ClockLines::drift_change_per_s * local_s * local_s / 2;
  };
  for (double now_s = 0; now_s < 20; now_s += 0.25) {
    lines.add({now_s, at(now_s) - 1e-10, now_s, at(now_s) + 1e-10});
    for (const double away_s : {-1.0, 0.0, 0.2, 1.0, 5.0}) {
      CHECK(lines.between(now_s + away_s).low_s <= at(now_s + away_s));
      CHECK(lines.between(now_s + away_s).high_s >= at(now_s + away_s));
    }
  }
  CHECK(lines.gates() == ClockLines::gates_max);
}

TEST_CASE("a clock that was set is learned anew") {
  Random random(4);
  const Truth before{0.1, 1e-5}, after{0.2, -3e-5};
  ClockLines lines;
  for (int i = 0; i < 5; ++i) lines.add(before.gate(i, 1e-6, random));
  lines.add(after.gate(5, 1e-6, random));
  CHECK(lines.gates() == 1);
  CHECK(holds(lines, after, 5.5));
}

TEST_CASE("a gate that contradicts itself leaves its two bounds to choose from") {
  ClockLines lines;
  lines.add({0, 2e-3, 0, 1e-3});
  CHECK(lines.between(0).low_s == doctest::Approx(1e-3));
  CHECK(lines.between(0).high_s == doctest::Approx(2e-3));
}
