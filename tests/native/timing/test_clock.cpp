#include "timing/clock.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace {

/// A clock that moves by a step at every reading.
struct Stepping {
  double step_s;
  double time_s = 0;
  double now_s() { return time_s += step_s; }
};

/// One that another process keeps waiting once.
struct Interrupted {
  int readings = 0;
  double now_s() {
    ++readings;
    return 2e-8 * readings + (readings > 300 ? 0.01 : 0);
  }
};

struct Stated {
  double clock_resolution_s() const { return 1e-6; }
  double now_s() const { return 0; }
};

/// The clock of a virtual network: far from its beginning, of whole picoseconds.
struct Virtual {
  std::uint64_t time_ps = 3'000'000'000'000'001;
  bool has_virtual_clock() const { return true; }
  double now_s() { return 1e-12 * static_cast<double>(time_ps += 10'000); }
};

}  // namespace

TEST_CASE("times between readings of a virtual clock are whole picoseconds") {
  Virtual clock;
  const auto quality = nhalf::calibrate(clock);
  CHECK(quality.is_virtual);
  CHECK(quality.floor_s() == 0);
  CHECK(quality.overhead_s == 1e-8);
  const double before_s = clock.now_s();
  clock.time_ps += 1'234'567;
  CHECK(quality.between_s(clock.now_s() - before_s) == 1.234567e-6);
}

TEST_CASE("a clock that stands still has neither resolution nor overhead") {
  Stepping clock{0};
  const auto quality = nhalf::calibrate(clock);
  CHECK(quality.resolution_s == 0);
  CHECK(quality.overhead_s == 0);
  CHECK(quality.floor_s() == 0);
}

TEST_CASE("step and overhead of a clock that moves") {
  Stepping clock{2e-8};
  const auto quality = nhalf::calibrate(clock);
  CHECK(quality.resolution_s == doctest::Approx(2e-8).scale(0));
  CHECK(quality.overhead_s == doctest::Approx(2e-8).scale(0));
}

TEST_CASE("an interruption while the clock is measured is no overhead of it") {
  Interrupted clock;
  const auto quality = nhalf::calibrate(clock);
  CHECK(quality.overhead_s > 1.9e-8);
  CHECK(quality.overhead_s < 2.1e-8);
}

TEST_CASE("a stated resolution is believed") {
  Stated clock;
  CHECK(nhalf::calibrate(clock).floor_s() == 1e-6);
}

TEST_CASE("the steady clock never goes back") {
  nhalf::SteadyClock clock;
  double before_s = clock.now_s();
  for (int i = 0; i < 1000; ++i) {
    const double now_s = clock.now_s();
    CHECK(now_s >= before_s);
    before_s = now_s;
  }
}

TEST_CASE("clocks that daemons slew are left alone where the other one is quick to read") {
  for (const auto* release : {"5.3.0", "5.14.0-427.el9.x86_64", "6.18.44-fc", "10.0"})
    CHECK(nhalf::clock_of(release) == CLOCK_MONOTONIC_RAW);
  for (const auto* release : {"5.2.21", "4.18.0-553.el8_10.x86_64", "3.10.0", "", "unknown"})
    CHECK(nhalf::clock_of(release) == CLOCK_MONOTONIC);
}

TEST_CASE("clocks with one epoch read one time") {
  nhalf::SteadyClock one;
  nhalf::SteadyClock other;
  other.set_epoch_ns(one.epoch_ns());
  const double before_s = one.now_s();
  const double between_s = other.now_s();
  CHECK(before_s <= between_s);
  CHECK(between_s <= one.now_s());
}
