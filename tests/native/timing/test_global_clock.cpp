// Clocks that are wrong on purpose: what is stated of them must hold.
#include "timing/global_clock.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <string>

#include "clock_judge.hpp"
#include "contract/options.hpp"
#include "timing/clock.hpp"
#include "transports/model.hpp"

using namespace nhalf;
using namespace nhalf::clock_judge;

TEST_CASE("1000 trials: the truth lies within the stated uncertainty, at any time after") {
  int claims = 0, right = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const int ranks = 2 + trial % 16;
    const char* jitters[] = {"0", "1e-6", "2e-5", "1e-3"};
    const auto options =
        Options::parse(wrong_clocks + ",o_s=1e-6,o_r=3e-6,seed=" + std::to_string(trial) +
                           ",jitter_s=" + jitters[trial / 16 % 4],
                       ',');
    on_model(ranks, options, [&](ModelTransport& t) {
      GlobalClock clock(t);
      Judge judge(t, options);
      for (int round = 0; round < 3; ++round) {
        clock.synchronise();
        for (const double later_s : {0.0, 1e-3, 0.1, 1.0, 10.0}) {
          t.idle_until(t.now_s() + later_s);
          ++claims;
          right += judge.right(clock) ? 1 : 0;
        }
      }
    });
  }
  CHECK(claims > 100000);
  CHECK(right == claims);  // Bounds, not estimates: never wrong.
}

TEST_CASE("a coarse clock is wrong by its step, and says so") {
  for (int seed = 0; seed < 50; ++seed) {
    const auto options = Options::parse(
        wrong_clocks + ",clock_resolution_s=1e-5,jitter_s=1e-6,seed=" + std::to_string(seed), ',');
    on_model(5, options, [&](ModelTransport& t) {
      GlobalClock clock(t);
      clock.synchronise();
      Judge judge(t, options);
      double instant_s = t.now_s();
      for (int i = 0; i < 20; ++i) {
        instant_s += 1.37e-5;
        t.idle_until(instant_s);
        CHECK(judge.error_s(clock, t.now_s(), instant_s) <= clock.uncertainty_s(t.now_s()));
      }
      CHECK(clock.uncertainty_s(t.now_s()) >= 1e-5);
    });
  }
}

TEST_CASE("the uncertainty is half of a round trip for each step down the tree") {
  const double half_trip_s = (2 * 1e-6 + 2 * 1e-6 + 2 * 5e-6 + 9 * 1e-10) / 2;
  for (const int ranks : {2, 4, 7, 16}) {
    CAPTURE(ranks);
    on_model(ranks, Options::parse(wrong_clocks, ','), [&](ModelTransport& t) {
      GlobalClock clock(t);
      clock.synchronise();
      const int steps = std::popcount(static_cast<unsigned>(t.rank()));
      // Waiting for the other levels costs what the unknown drift makes of it.
      const double waiting_s = ClockLines::drift_max * 5e-3;
      CHECK(clock.uncertainty_s(t.now_s()) >= 0.99 * half_trip_s * steps);
      CHECK(clock.uncertainty_s(t.now_s()) <= half_trip_s * steps + (t.rank() > 0 ? waiting_s : 0));
      CHECK(clock.shared() == false);
      CHECK(clock.reached_s() <= clock.bound_s());
    });
  }
}

TEST_CASE("two global times of one rank keep their order, and there and back is the same") {
  const auto options = Options::parse(wrong_clocks, ',');
  on_model(3, options, [&](ModelTransport& t) {
    GlobalClock clock(t);
    for (int i = 0; i < 3; ++i) {
      clock.synchronise();
      double before_s = clock.global_s(t.now_s());
      for (const double step_s : {1e-9, 1e-6, 1e-3, 1.0}) {
        t.idle_until(t.now_s() + step_s);
        const double now_s = clock.global_s(t.now_s());
        CHECK(now_s > before_s);
        CHECK(clock.local_s(now_s) == doctest::Approx(t.now_s()).epsilon(1e-14));
        before_s = now_s;
      }
    }
  });
}

TEST_CASE("the drift is learned from later synchronisations") {
  const auto options = Options::parse(wrong_clocks + ",seed=4", ',');
  on_model(4, options, [&](ModelTransport& t) {
    GlobalClock clock(t);
    Judge judge(t, options);
    clock.synchronise();
    if (t.rank() > 0) CHECK(clock.uncertainty_s(t.now_s() + 1) > ClockLines::drift_max);
    for (int second = 0; second < 10; ++second) {
      t.idle_until(t.now_s() + 1);
      CHECK(judge.right(clock));
      clock.synchronise();
    }
    CHECK(clock.uncertainty_s(t.now_s() + 1) < clock.uncertainty_s(t.now_s()) + 1e-5);
    t.idle_until(t.now_s() + 1);
    CHECK(judge.error_s(clock) < 5e-6);
  });
}

TEST_CASE("clocks are measured again when they became too uncertain, and not before") {
  on_model(3, Options::parse(wrong_clocks, ','), [&](ModelTransport& t) {
    GlobalClock clock(t);
    CHECK(!clock.synchronised());
    CHECK(clock.uncertainty_s(t.now_s()) > 1e300);
    CHECK(clock.refresh());
    CHECK(!clock.refresh());
    t.idle_until(t.now_s() + 5e-3);
    CHECK(!clock.refresh(1e-4));
    CHECK(clock.refresh(1e-8));
    t.idle_until(t.now_s() + 0.2);
    CHECK(clock.refresh());
    CHECK(!clock.refresh());
    // However sure: once per second.
    for (int look = 0; look < 12; ++look) {
      t.idle_until(t.now_s() + 1.1);
      CHECK(clock.refresh(1.0));
    }
  });
}

TEST_CASE("of many exchanges with random delays the quickest ones count, each way by itself") {
  const double half_trip_s = (2 * 1e-6 + 2 * 1e-6 + 2 * 5e-6 + 9 * 1e-10) / 2;
  double sum_s = 0;
  const int trials = 100;
  for (int seed = 0; seed < trials; ++seed) {
    const auto options =
        Options::parse("clock_offset_s=1,jitter_s=2e-5,seed=" + std::to_string(seed), ',');
    on_model(2, options, [&](ModelTransport& t) {
      GlobalClock clock(t);
      clock.synchronise();
      if (t.rank() == 1) sum_s += clock.uncertainty_s(t.now_s());
    });
  }
  // The least of 20 or more delays of 20 us in the mean is 1 us or less, there and back.
  CHECK(sum_s / trials < half_trip_s + 2.5e-6);
}

TEST_CASE("synchronising takes milliseconds for two ranks, and grows with the levels of the tree") {
  const auto cost_s = [](int ranks, const std::string& options) {
    double spent_s = 0;
    on_model(ranks, Options::parse(options, ','), [&](ModelTransport& t) {
      GlobalClock clock(t);
      t.barrier();
      const double began_s = t.now_s();
      clock.synchronise();
      t.barrier();
      if (t.rank() == 0) spent_s = t.now_s() - began_s;
    });
    return spent_s;
  };
  for (const std::string options : {"clock_offset_s=0", "clock_offset_s=1"}) {
    CHECK(cost_s(2, options) < 1e-3);
    CHECK(cost_s(16, options) < 4.01 * cost_s(2, options));
    CHECK(cost_s(17, options) < 5.01 * cost_s(2, options));
  }
  CHECK(cost_s(1, "clock_offset_s=1") == 0);
}
