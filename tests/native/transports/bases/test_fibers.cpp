// SPDX-License-Identifier: Apache-2.0
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
  });
  CHECK(order == std::vector<int>{1, 0});
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
