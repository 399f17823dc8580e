#include "timing/operation_times.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace nhalf;

TEST_CASE("the uncertainty of a time is that of the two worst clocks") {
  const std::vector<Presence> ranks{
      {.began_s = 1, .ended_s = 4, .uncertainty_s = 0.1},
      {.began_s = 3, .ended_s = 9, .uncertainty_s = 0.5, .late = true},
      {.began_s = 2, .ended_s = 5, .uncertainty_s = 0.3}};
  const OperationTimes times(ranks);
  CHECK(times.span_s() == 8);
  CHECK(times.skew_s() == 2);
  CHECK(times.uncertainty_s() == doctest::Approx(0.8));
  CHECK(times.late);
}
