#include "interposer/evidence.hpp"

#include <doctest/doctest.h>

#include <random>

using nhalf::coll::CallTimes;
using nhalf::coll::Evidence;

TEST_CASE("evidence between equal ways seldom reaches 20") {
  std::mt19937 random(1);
  int reached = 0;
  constexpr int runs = 2000;
  for (int i = 0; i < runs; ++i) {
    Evidence evidence;
    bool is_reached = false;
    for (int pair = 0; pair < 500; ++pair) {
      evidence.add(random() % 2 == 0);
      is_reached |= evidence.for_other() >= 20;
    }
    reached += is_reached ? 1 : 0;
  }
  CHECK(reached > 0);
  CHECK(reached <= runs / 20);
}

TEST_CASE("interruptions of two calls at most count four times the others' mean each") {
  CallTimes times;
  times.add(1);
  CHECK(times.sum_s() == 1);
  times.add(1000);
  CHECK(times.sum_s() == 5);
  times.add(1);
  times.add(1);
  CHECK(times.sum_s() == 7);
  times.add(500);
  CHECK(times.sum_s() == 11);
  times.add(500);
  CHECK(times.sum_s() > 500);
}
