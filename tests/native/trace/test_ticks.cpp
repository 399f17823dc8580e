#include "trace/ticks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace {

using nhalf::trace::ClaimedTime;
using nhalf::trace::Ticks;

constexpr Ticks begin = 5'000'000;
constexpr Ticks short_call = 4096;

/// Calls in a row, of which every eighth on average is timed and represents eight; others are timed
/// each.
struct Thread {
  ClaimedTime claimed{begin, short_call};
  std::mt19937 random{3};
  Ticks now = begin;
  Ticks all = 0;
  Ticks truth = 0;
  int until_timed = 1;

  void represented(Ticks time, Ticks computing) {
    now += computing + time;
    truth += time;
    if (--until_timed > 0) return;
    until_timed = static_cast<int>(1 + random() % 8 * 2);
    all += claimed.claim(time, now, 8);
    CHECK(all <= now - begin);
  }
  void timed(Ticks time, Ticks computing) {
    now += computing + time;
    truth += time;
    all += claimed.claim(time, now, 1);
    CHECK(all <= now - begin);
  }
};

}  // namespace

TEST_CASE("a call that was interrupted does not stand for eight that were") {
  Thread thread;
  for (int call = 0; call < 100'000; ++call)
    thread.represented(call % 1000 == 0 ? 10'000'000 : 1000, 20);
  CHECK(thread.all <= thread.now - begin);
}

TEST_CASE("the first timed call that stands for eight stands for no more than there was") {
  ClaimedTime claimed{begin, short_call};
  CHECK(claimed.claim(1000, begin + 1500, 8) == 1500);
}

TEST_CASE("several kinds of calls share what there was") {
  Thread thread;
  for (int call = 0; call < 50'000; ++call) {
    thread.represented(500 + call % 700, 0);
    thread.represented(1500, 0);
    if (call % 3 == 0) thread.timed(9000, 0);
  }
  CHECK(thread.all <= thread.now - begin);
  CHECK(static_cast<double>(thread.all) > 0.97 * static_cast<double>(thread.truth));
}

TEST_CASE("what some stand for too little is kept for those that stand for too much") {
  Thread thread;
  for (int call = 0; call < 200'000; ++call) thread.represented(500 + thread.random() % 1000, 0);
  CHECK(static_cast<double>(thread.all) > 0.97 * static_cast<double>(thread.truth));
}

TEST_CASE("with time between the calls none is cut") {
  Thread thread;
  for (int call = 0; call < 200'000; ++call) thread.represented(500 + thread.random() % 1000, 3000);
  CHECK(static_cast<double>(thread.all) ==
        doctest::Approx(static_cast<double>(thread.truth)).epsilon(0.02));
}

TEST_CASE("calls on another stack may have claimed what a call took") {
  ClaimedTime claimed{begin, short_call};
  CHECK(claimed.claim(2000, begin + 1000, 1) == 2000);
  CHECK(claimed.claim(500, begin + 1500, 8) == 0);
}
