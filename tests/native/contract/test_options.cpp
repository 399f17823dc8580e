#include "contract/options.hpp"

#include <doctest/doctest.h>

using nhalf::InputError;
using nhalf::Options;

TEST_CASE("nothing given, nothing known") {
  const auto options = Options::parse("", ',');
  CHECK(options.values().empty());
  CHECK(options.number("L", 5e-6) == 5e-6);
}

TEST_CASE("numbers in every common way of writing") {
  const auto options = Options::parse("a=1e-6,b=0.5,,c=7", ',');
  CHECK(options.number("a", 0.0) == 1e-6);
  CHECK(options.number("b", 0.0) == 0.5);
  CHECK(options.number("c", 0) == 7);
}

TEST_CASE("what is no key=value is refused") {
  CHECK_THROWS_AS(Options::parse("a", ','), InputError);
  CHECK_THROWS_AS(Options::parse("=1", ','), InputError);
}

TEST_CASE("what is no number from zero up is refused") {
  for (const auto* text : {"a=x", "a=1x", "a=", "a=-1", "a=nan", "a=1e999"}) {
    CAPTURE(text);
    CHECK_THROWS_AS((void)Options::parse(text, ',').number("a", 0.0), InputError);
  }
  CHECK_THROWS_AS((void)Options::parse("n=99999999999", ',').number("n", 0), InputError);
}
