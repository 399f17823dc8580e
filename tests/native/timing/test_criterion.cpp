#include "timing/verification.hpp"

#include <doctest/doctest.h>

#include <vector>

using nhalf::Criterion;
using nhalf::Effort;
using nhalf::Stop;

namespace {

/// Values that are spread evenly by the given relative width around 1.
std::vector<double> spread(std::size_t count, double width) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(1 + width * (static_cast<double>(i) / static_cast<double>(count - 1) - 0.5));
  return values;
}

}  // namespace

TEST_CASE("nothing is decided without samples") {
  CHECK(Criterion(Effort{}).decide({}, 1e9) == Stop::none);
}

TEST_CASE("samples without spread end a measurement at once") {
  CHECK(Criterion(Effort{}).decide(std::vector<double>(20, 7e-6), 0) == Stop::precision);
}

TEST_CASE("the rounding of a virtual clock counts as no spread") {
  auto samples = std::vector<double>(20, 7e-6);
  for (std::size_t i = 0; i < samples.size(); i += 2) samples[i] *= 1 + 1e-14;
  CHECK(Criterion(Effort{}).decide(samples, 0) == Stop::precision);
}

TEST_CASE("precision counts only after a quarter of the slice") {
  const Effort effort{.slice_s = 1.0, .precision = 0.05, .samples_min = 20, .samples_max = 1000};
  const auto samples = spread(100, 0.1);
  CHECK(Criterion(effort).decide(samples, 0.24) == Stop::none);
  CHECK(Criterion(effort).decide(samples, 0.25) == Stop::precision);
  CHECK(Criterion(effort).decide(samples, 0.26) == Stop::precision);
}

TEST_CASE("a wide spread goes on until the time is spent") {
  const Effort effort{.slice_s = 1.0, .precision = 0.01, .samples_min = 20, .samples_max = 1000};
  const auto samples = spread(100, 1.0);
  CHECK(Criterion(effort).decide(samples, 0.99) == Stop::none);
  CHECK(Criterion(effort).decide(samples, 1.0) == Stop::time);
}

TEST_CASE("one sample that takes longer than the slice is enough") {
  const Effort effort{.slice_s = 0.01};
  CHECK(Criterion(effort).decide({0.5}, 0.5) == Stop::time);
}

TEST_CASE("never more samples than asked for") {
  const Effort effort{.slice_s = 1e9, .precision = 1e-6, .samples_min = 5, .samples_max = 50};
  CHECK(Criterion(effort).decide(spread(49, 1.0), 0) == Stop::none);
  CHECK(Criterion(effort).decide(spread(50, 1.0), 0) == Stop::samples);
}

TEST_CASE("it is looked at every fifth sample, from the least number on") {
  const Effort effort{.slice_s = 1.0, .samples_min = 40, .samples_max = 1000};
  for (const std::size_t count : {20UL, 39UL, 41UL, 44UL})
    CHECK(Criterion(effort).decide(std::vector<double>(count, 7e-6), 0) == Stop::none);
  for (const std::size_t count : {40UL, 45UL})
    CHECK(Criterion(effort).decide(std::vector<double>(count, 7e-6), 0) == Stop::precision);
}

TEST_CASE("a width that is just good enough is good enough") {
  auto samples = spread(100, 0.5);
  const double width = nhalf::relative_half_width(samples);
  const Effort effort{.slice_s = 1.0, .precision = width, .samples_min = 20, .samples_max = 1000};
  CHECK(Criterion(effort).decide(samples, 0.5) == Stop::precision);
}
