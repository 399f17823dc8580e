#include "timing/operation_times.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

#include "../claiming.hpp"
#include "contract/options.hpp"
#include "timing/clock.hpp"
#include "timing/global_clock.hpp"
#include "transports/model.hpp"

using namespace nhalf;

namespace {

const std::string wrong = "clock_offset_s=1,clock_drift_ppm=100,jitter_s=1e-6";

/// Everybody's number, at everybody.
template <class T>
std::vector<double> everyones(T& transport, double mine) {
  auto all = collect(transport, std::span<const double>(&mine, 1));
  all.resize(static_cast<std::size_t>(transport.size()));
  transport.broadcast(std::as_writable_bytes(std::span(all)));
  return all;
}

}  // namespace

TEST_CASE("nobody starts early, and all start together as far as their clocks go") {
  for (int seed = 0; seed < 100; ++seed) {
    const auto options = Options::parse(wrong + ",seed=" + std::to_string(seed), ',');
    const int ranks = 2 + seed % 16;
    ModelTransport::launch(0, nullptr, ranks, options, [&](ModelTransport& t) {
      GlobalClock clock(t);
      clock.synchronise();
      RoundTime round(t, clock);
      const ClockError mine(options, t.rank());
      for (int turn = 0; turn < 50; ++turn) {
        const double slack_s = round.slack_s();
        const double before_s = everyones(t, clock.global_s(t.now_s()))[0];
        const auto start = round.start();
        CHECK(t.now_s() == start.local_s);
        const auto late = everyones(t, start.late ? 1 : 0);
        const auto began_s = everyones(t, clock.global_s(start.local_s));
        const auto true_s = everyones(t, mine.true_s(start.local_s));
        const auto unsure_s = everyones(t, clock.uncertainty_s(start.local_s));
        bool any_late = false;
        for (std::size_t rank = 0; rank < began_s.size(); ++rank) {
          any_late = any_late || late[rank] != 0;
          CHECK(began_s[rank] >= before_s + slack_s - 1e-12);
          if (late[rank] != 0) continue;
          CHECK(began_s[rank] == doctest::Approx(began_s[0]).epsilon(1e-12));
          CHECK(std::abs(true_s[rank] - true_s[0]) <= unsure_s[rank] + unsure_s[0] + 1e-12);
        }
        round.adapt(any_late);
      }
    });
  }
}

TEST_CASE("the first slack is three times the slowest rank's broadcast") {
  ModelTransport::launch(0, nullptr, 4, Options{}, [&](ModelTransport& t) {
    Claiming claiming(t);
    claiming.delay_s = 2e-5;
    GlobalClock clock(claiming);
    clock.synchronise();
    const RoundTime round(claiming, clock);
    if (t.rank() == 0) CHECK(round.slack_s() == doctest::Approx(6e-5));
  });
}

TEST_CASE(
    "who is late says so; the slack grows until nobody is, and shrinks no further than it was") {
  ModelTransport::launch(0, nullptr, 3, Options{}, [&](ModelTransport& t) {
    Claiming claiming(t);
    GlobalClock clock(claiming);
    clock.synchronise();
    RoundTime round(claiming, clock);
    const double first_s = round.slack_s();
    claiming.delay_s = 1e-3;
    int late = 0;
    for (int turn = 0; turn < 40; ++turn) {
      const auto start = round.start();
      if (t.rank() != 2) CHECK(!start.late);
      const bool anybody = !t.all(!start.late);
      late += anybody ? 1 : 0;
      round.adapt(anybody);
    }
    // From 1 us past 1 ms in steps of 1.5: 18 times; then, shrinking, once or twice more.
    CHECK(late >= 18);
    CHECK(late <= 20);
    claiming.delay_s = 0;
    for (int turn = 0; turn < 2000; ++turn) round.adapt(round.start().late);
    CHECK(round.slack_s() == doctest::Approx(first_s));
  });
}

TEST_CASE("who sleeps past a start says so, and no slack is given for it") {
  constexpr double reading_s = 2e-8;
  for (const auto& sleep :
       {std::pair{3e-3, true}, {1e-6, true}, {3 * reading_s, false}, {0.0, false}}) {
    const auto oversleep_s = sleep.first;
    const auto noticed = sleep.second;
    CAPTURE(oversleep_s);
    ModelTransport::launch(0, nullptr, 3, Options{}, [&](ModelTransport& t) {
      Claiming claiming(t);
      GlobalClock clock(claiming);
      clock.synchronise();
      RoundTime round(claiming, clock, reading_s);
      claiming.oversleep_s = oversleep_s;
      const double slack_s = round.slack_s();
      const auto start = round.start();
      CHECK(start.late == (noticed && t.rank() == 2));
      CHECK(!start.told_late);
      round.adapt(!t.all(!start.told_late));
      CHECK(round.slack_s() == slack_s);
    });
  }
}

TEST_CASE("sleep that does no more than the clocks are unsure of is on time") {
  const auto options = Options::parse("clock_offset_s=1,clock_drift_ppm=100", ',');
  for (const auto& sleep : {std::pair{0.5, false}, {2.0, true}}) {
    const auto share = sleep.first;
    const auto noticed = sleep.second;
    CAPTURE(share);
    ModelTransport::launch(0, nullptr, 2, options, [&](ModelTransport& t) {
      Claiming claiming(t);
      GlobalClock clock(claiming);
      clock.synchronise();
      RoundTime round(claiming, clock);
      claiming.oversleep_s = share * clock.uncertainty_s(t.now_s());
      CHECK(round.start().late == (noticed && t.rank() == 1));
    });
  }
}
