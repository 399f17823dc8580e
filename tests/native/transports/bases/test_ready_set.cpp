#include "transports/bases/fibers.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>

using nhalf::ReadySet;

TEST_CASE("an empty set has no next") {
  CHECK(ReadySet().next(0) == ReadySet::none);
  CHECK(ReadySet(5).next(3) == ReadySet::none);
}

TEST_CASE("the next one is found round the circle, as in a sorted set") {
  std::mt19937 random(1);
  for (const std::size_t limit : {1UL, 63UL, 64UL, 65UL, 4096UL, 4097UL, 70000UL}) {
    CAPTURE(limit);
    ReadySet ready(limit);
    std::set<std::size_t> truth;
    for (int step = 0; step < 2000; ++step) {
      const auto number = random() % limit;
      if (truth.contains(number)) {
        ready.erase(number);
        truth.erase(number);
      } else {
        ready.insert(number);
        truth.insert(number);
      }
      const auto first = random() % (limit + 1);
      const auto found = truth.lower_bound(first);
      const auto expected = truth.empty()          ? ReadySet::none
                            : found == truth.end() ? *truth.begin()
                                                   : *found;
      REQUIRE(ready.next(first) == expected);
    }
  }
}
