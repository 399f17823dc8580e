#include "transports/bases/fibers.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

using nhalf::Fibers;

TEST_CASE("bodies run in order and to their ends") {
  std::vector<int> order;
  Fibers{}.run(3, [&](int index) { order.push_back(index); });
  CHECK(order == std::vector<int>{0, 1, 2});
}

TEST_CASE("a body that waits lets the others go on") {
  Fibers fibers;
  std::vector<int> order;
  bool open = false;
  fibers.run(2, [&](int index) {
    if (index == 0) fibers.wait_until([&] { return open; });
    order.push_back(index);
    open = true;
    fibers.wake(0);
  });
  CHECK(order == std::vector<int>{1, 0});
}

TEST_CASE("who was woken goes on in the order of numbers, from the one whose turn it is") {
  Fibers fibers;
  std::vector<int> order;
  int arrived = 0;
  bool open = false;
  fibers.run(5, [&](int index) {
    if (++arrived == 5) fibers.wake(2);
    fibers.wait_until([&] { return index == 2 ? arrived == 5 : open; });
    open = true;
    if (index == 2)
      for (const int other : {1, 4, 0, 3}) fibers.wake(other);
    order.push_back(index);
  });
  CHECK(order == std::vector<int>{2, 3, 4, 0, 1});
}

TEST_CASE("who waits is not asked before it is woken") {
  Fibers fibers;
  constexpr int bodies = 20000;
  int looks = 0, arrived = 0;
  fibers.run(bodies, [&](int) {
    const bool last = ++arrived == bodies;
    if (last) fibers.wake_all();
    fibers.wait_until([&] { return ++looks, arrived == bodies; });
  });
  CHECK(looks == 2 * bodies - 1);
  CHECK(fibers.turns() <= 2 * bodies);
}

TEST_CASE("a deadlock is an error, not a hang") {
  Fibers fibers;
  CHECK_THROWS_WITH_AS(fibers.run(2, [&](int) { fibers.wait_until([] { return false; }); }),
                       "deadlock: every rank waits for another", std::runtime_error);
}

TEST_CASE("an exception in one body reaches the caller") {
  CHECK_THROWS_AS(Fibers{}.run(2,
                               [](int index) {
                                 if (index == 1) throw std::out_of_range("x");
                               }),
                  std::out_of_range);
}
