// SPDX-License-Identifier: Apache-2.0
#include "interposer/allowance.hpp"

#include <doctest/doctest.h>

#include <utility>

using nhalf::coll::Allowance;

TEST_CASE("what one communicator has another one has not, until it goes") {
  const auto most_bytes = Allowance::most_bytes();
  {
    Allowance one, two;
    CHECK(one.take(most_bytes / 2));
    CHECK_FALSE(two.take(most_bytes));
  }
  Allowance again;
  CHECK(again.take(most_bytes));
  Allowance moved = std::move(again);
  Allowance more;
  CHECK_FALSE(more.take(1));
  moved = Allowance();
  Allowance last;
  CHECK(last.take(1));
}
