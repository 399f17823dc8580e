// SPDX-License-Identifier: Apache-2.0
#include "timing/clock.hpp"

#include <doctest/doctest.h>

namespace {

/// A clock that moves by a step at every reading.
struct Stepping {
  double step_s;
  double time_s = 0;
  double now_s() { return time_s += step_s; }
};

struct Stated {
  double clock_resolution_s() const { return 1e-6; }
  double now_s() const { return 0; }
};

}  // namespace

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
  CHECK(quality.resolution_s == doctest::Approx(2e-8));
  CHECK(quality.overhead_s == doctest::Approx(2e-8));
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
