#include "node/core.hpp"

#include <doctest/doctest.h>

namespace {

/// Every look at it takes as long as it is told to.
struct ToldClock {
  double step_s = 1e-6;
  double at_s = 0;
  double now_s() { return at_s += step_s; }
};

TEST_CASE("a core that issues half of what it did is shared") {
  ToldClock clock;
  nhalf::CoreWitness core(clock, 0.0);
  constexpr double cycle_s = 1e-9;
  CHECK(core.is_alone(cycle_s));
  clock.step_s = 1.1e-6;
  CHECK(core.is_alone(cycle_s));
  clock.step_s = 2e-6;
  CHECK_FALSE(core.is_alone(cycle_s));
  // A slower clock makes cycles longer, and the core no less alone.
  CHECK(core.is_alone(2 * cycle_s));
}

TEST_CASE("no look is better than any core can be") {
  ToldClock clock;
  nhalf::CoreWitness core(clock, 0.0);
  clock.step_s = 1e-9;
  core.is_alone(1e-9);
  clock.step_s = 1e-6;
  CHECK(core.is_alone(1e-9));
}

TEST_CASE("one look at a clock that was disturbed does not make all others look shared") {
  ToldClock clock;
  nhalf::CoreWitness core(clock, 0.0);
  constexpr double cycle_s = 1e-9;
  CHECK(core.is_alone(cycle_s));
  CHECK(core.is_alone(2.4 * cycle_s));
  CHECK(core.is_alone(cycle_s));
}

TEST_CASE("what is best is learnt where the core was shared at first") {
  ToldClock clock{.step_s = 2e-6};
  nhalf::CoreWitness core(clock, 0.0);
  constexpr double cycle_s = 1e-9;
  CHECK(core.is_alone(cycle_s));
  clock.step_s = 1e-6;
  for (int look = 0; look < 30; ++look) core.is_alone(cycle_s);
  clock.step_s = 2e-6;
  CHECK_FALSE(core.is_alone(cycle_s));
}

}  // namespace
