// Ranks that have one clock between them, and those that only say so.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <string>

#include "../claiming.hpp"
#include "clock_judge.hpp"
#include "contract/options.hpp"
#include "timing/global_clock.hpp"
#include "transports/model.hpp"
#include "transports/threads.hpp"

using namespace nhalf;
using namespace nhalf::clock_judge;

TEST_CASE("one clock at all ranks is found to be one") {
  for (const int ranks : {1, 2, 5, 17}) {
    on_model(ranks, Options::parse("jitter_s=1e-6", ','), [&](ModelTransport& t) {
      GlobalClock clock(t);
      clock.synchronise();
      CHECK(clock.shared() == (t.rank() > 0));
      CHECK(clock.global_s(0.123) == 0.123);
      CHECK(clock.local_s(0.123) == 0.123);
      CHECK(clock.uncertainty_s(100) == 0);
    });
  }
}

TEST_CASE("who claims a clock that it does not have is found out") {
  for (int seed = 0; seed < 20; ++seed) {
    const auto options = Options::parse(wrong_clocks + ",seed=" + std::to_string(seed), ',');
    on_model(5, options, [&](ModelTransport& t) {
      Claiming claiming(t);
      GlobalClock clock(claiming);
      Judge judge(claiming, options);
      clock.synchronise();
      CHECK(!clock.shared());
      CHECK(judge.right(clock));
    });
  }
}

TEST_CASE("a clock that agrees at first and drifts away is found out by and by") {
  const auto options = Options::parse("clock_drift_ppm=100,seed=6", ',');
  on_model(4, options, [&](ModelTransport& t) {
    Claiming claiming(t);
    GlobalClock clock(claiming);
    Judge judge(claiming, options);
    clock.synchronise();
    CHECK(clock.shared() == (t.rank() > 0));
    for (int look = 0; look < 10; ++look) {
      t.idle_until(t.now_s() + 0.3);
      clock.refresh();
    }
    CHECK(!clock.shared());
    CHECK(judge.right(clock));
  });
}

TEST_CASE("only the first rank of each host measures its clock; what was taken over is forgotten") {
  for (const double shift_s : {1.5e-5, 2e-5, 2.5e-5, 3e-5, 4e-5, 1e-3}) {
    CAPTURE(shift_s);
    on_model(4, Options{}, [&](ModelTransport& t) {
      Claiming claiming(t);
      claiming.hosts = 2;
      if (t.rank() % 2 == 1) claiming.shift_s = 1;
      GlobalClock clock(claiming);
      for (int second = 2; second < 5; ++second) {
        claiming.idle_until(second);
        clock.synchronise();
        CHECK(clock.shared() == (t.rank() >= 2));
      }
      if (t.rank() == 3) claiming.shift_s += shift_s;
      clock.synchronise();
      CHECK(clock.shared() == (t.rank() == 2));
      for (const double later_s : {0.0, 0.01, 1.0}) {
        t.idle_until(t.now_s() + later_s);
        const double error_s = std::abs(clock.global_s(claiming.now_s()) - t.now_s());
        CHECK(error_s <= clock.uncertainty_s(claiming.now_s()));
      }
    });
  }
}

TEST_CASE("who was found to have another clock is not believed again, and clocks may be set") {
  on_model(3, Options{}, [&](ModelTransport& t) {
    Claiming claiming(t);
    GlobalClock clock(claiming);
    clock.synchronise();
    CHECK(clock.shared() == (t.rank() > 0));
    for (const double shift_s : {1e-3, 0.0, -1.0}) {
      if (t.rank() == 2) claiming.shift_s = shift_s;
      clock.synchronise();
      CHECK(clock.shared() == (t.rank() == 1));
      const double error_s = std::abs(clock.global_s(claiming.now_s()) - t.now_s());
      CHECK(error_s <= clock.uncertainty_s(claiming.now_s()));
    }
  });
}

TEST_CASE("threads share one clock, unless theirs are made wrong") {
  for (const int ranks : {2, 3}) {
    std::atomic<int> good = 0;
    ThreadsTransport::launch(0, nullptr, ranks, Options{}, [&](ThreadsTransport& t) {
      GlobalClock clock(t);
      clock.synchronise();
      good += clock.shared() == (t.rank() > 0) && clock.global_s(5) == 5 ? 1 : 0;
    });
    CHECK(good == ranks);
    // Seed 1 puts the clocks of these ranks tenths of a second apart.
    const auto options = Options::parse(wrong_clocks, ',');
    good = 0;
    ThreadsTransport::launch(0, nullptr, ranks, options, [&](ThreadsTransport& t) {
      GlobalClock clock(t);
      Judge judge(t, options);
      bool right = true;
      for (int round = 0; round < 5; ++round) {
        clock.synchronise();
        for (int look = 0; look < 100; ++look) right = right && judge.right(clock);
      }
      good += right && !clock.shared() ? 1 : 0;
    });
    CHECK(good == ranks);
  }
}
