#include "timing/statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <vector>

TEST_CASE("the median of one value is that value") {
  std::vector<double> values{3.5};
  CHECK(nhalf::median(values) == 3.5);
}

TEST_CASE("the median of an even number of values is the mean of the two in the middle") {
  std::vector<double> values{9, 1, 4, 2};
  CHECK(nhalf::median(values) == 3);
}

TEST_CASE("the median of an odd number of values is the one in the middle") {
  std::vector<double> values{9, 1, 4};
  CHECK(nhalf::median(values) == 4);
}

TEST_CASE("fewer than six values have no interval") {
  std::vector<double> values(5, 1.0);
  CHECK(std::isinf(nhalf::relative_half_width(values)));
}

TEST_CASE("equal values have an interval of no width") {
  std::vector<double> values(50, 2.0);
  CHECK(nhalf::relative_half_width(values) == 0);
}

TEST_CASE("zeros have no width, and no division by zero") {
  std::vector<double> values(50, 0.0);
  CHECK(nhalf::relative_half_width(values) == 0);
}

TEST_CASE("the interval of 1 to 100 lies between the 40th and the 61st value") {
  std::vector<double> values(100);
  std::iota(values.begin(), values.end(), 1.0);
  // Le Boudec 2010, Appendix A: n = 100 gives j = 40 and k = 61.
  CHECK(nhalf::relative_half_width(values) == doctest::Approx((61.0 - 40.0) / (2 * 50.5)));
}

TEST_CASE("the interval of six values is all of them") {
  std::vector<double> values{4, 1, 3, 6, 2, 5};
  CHECK(nhalf::relative_half_width(values) == doctest::Approx((6.0 - 1.0) / (2 * 3.5)));
}

TEST_CASE("values around zero have no relative width") {
  std::vector<double> values{-4, -3, -2, -1, 1, 2, 3, 2, -2};
  CHECK(std::isinf(nhalf::relative_half_width(values)));
}
