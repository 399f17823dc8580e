#include "timing/stopwatch.hpp"

#include <doctest/doctest.h>

namespace {

/// A clock whose reading takes a while, half of it before the time is taken.
struct Costly {
  double reading_s = 0;
  double time_s = 0;
  double now_s() {
    time_s += reading_s / 2;
    const double seen_s = time_s;
    time_s += reading_s / 2;
    return seen_s;
  }
};

/// A clock whose readings are cheaper now than they were while it was judged.
struct Cheapening : Costly {
  int readings = 0;
  double now_s() {
    reading_s = ++readings > 6000 ? 1e-8 : 4e-8;
    return Costly::now_s();
  }
};

}  // namespace

TEST_CASE("calls shorter than a reading of the clock are timed without it") {
  for (const double reading_s : {0.0, 2.5e-8, 1e-6}) {
    Costly clock{reading_s};
    nhalf::Stopwatch watch(clock);
    for (int i = 0; i < 1000; ++i) watch.time([&] { clock.time_s += 3e-9; });
    CAPTURE(reading_s);
    CHECK(watch.seconds().value() == doctest::Approx(3e-6).epsilon(1e-6));
    CHECK(watch.values().at(0).name == "clock_reading_s");
    CHECK(watch.values().at(0).value == doctest::Approx(reading_s).epsilon(1e-6));
  }
}

TEST_CASE("what lies between calls is not timed, and a reset forgets") {
  Costly clock{1e-8};
  nhalf::Stopwatch watch(clock);
  CHECK(!watch.seconds());
  watch.time([&] { clock.time_s += 5; });
  watch.reset();
  clock.time_s += 7;
  watch.time([&] { clock.time_s += 2; });
  clock.time_s += 7;
  CHECK(watch.seconds().value() == doctest::Approx(2));
}

TEST_CASE("a time below 0 shows") {
  Cheapening clock;
  nhalf::Stopwatch watch(clock);
  for (int i = 0; i < 100; ++i) watch.time([] {});
  CHECK(watch.seconds().value() == doctest::Approx(100 * (1e-8 - 4e-8)));
}
