#include "interposer/limits.hpp"

#include <doctest/doctest.h>

#include <utility>

using nhalf::coll::MemoryBudget;

TEST_CASE("communicators share one memory budget") {
  const auto most_bytes = MemoryBudget::most_bytes();
  {
    MemoryBudget first, second;
    CHECK(first.take(most_bytes / 2));
    CHECK_FALSE(second.take(most_bytes));
  }
  MemoryBudget again;
  CHECK(again.take(most_bytes));
  MemoryBudget moved = std::move(again);
  MemoryBudget more;
  CHECK_FALSE(more.take(1));
  moved = MemoryBudget();
  MemoryBudget last;
  CHECK(last.take(1));
}
