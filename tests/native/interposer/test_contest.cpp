// What trials of one class of calls may cost, and whose turn they are.
#include "interposer/contest.hpp"

#include <doctest/doctest.h>

#include "learning_program.hpp"

using nhalf::coll::Contest;
using nhalf::coll::given::Program;
namespace way = nhalf::coll::way;

TEST_CASE("a class of calls pays its own trials, whatever the rest of the program takes") {
  for (const double ratio : {1.05, 1.4, 2.0}) {
    Program program;
    program.call(100000, 0.5);
    const double own_before_s = program.own_s, taken_before_s = program.taken_s;
    for (int calls = 0; calls < 5000; calls += 50) {
      program.call(50, ratio, 1 << 17, 5e-6);
      const double own_s = program.own_s - own_before_s;
      const double most_s = Contest::constant_s + Contest::share * own_s;
      CHECK(program.taken_s - taken_before_s - own_s <= most_s);
    }
    CHECK_FALSE(program.is_other(1 << 17));
  }
}

TEST_CASE("no way of large calls spends on lost trials what another needs for its first") {
  for (const double ratio : {0.3, 0.6, 1.3}) {
    Program program;
    program.ratio_single_copy = 2 - ratio;
    program.call(800, ratio, 1 << 16);
    CHECK(program.others == 0);
    program.call(2700, ratio, 1 << 16);
    CHECK(program.calls_by_way[way::shared_memory] > 0);
    CHECK(program.single_copies > 0);
    CHECK(program.is_other(1 << 16));
  }
}
