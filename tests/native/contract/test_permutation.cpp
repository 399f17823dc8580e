#include "contract/permutation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

using nhalf::permutation;

TEST_CASE("a permutation holds every number once") {
  for (int count = 0; count <= 40; ++count)
    for (int number = 0; number < 10; ++number) {
      auto order = permutation(count, 7, number);
      std::ranges::sort(order);
      REQUIRE(order.size() == static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
    }
}

TEST_CASE("seed and number choose the permutation, all bits of the seed count") {
  std::set<std::vector<int>> seen;
  for (const std::uint64_t seed : {0ULL, 1ULL, 2ULL, 1ULL << 32, 1ULL << 63})
    for (int number = 0; number < 30; ++number) seen.insert(permutation(20, seed, number));
  CHECK(seen.size() == 150);
  CHECK(permutation(20, 1, 7) == permutation(20, 1, 7));
}

TEST_CASE("every platform draws the same: computed apart from this program") {
  CHECK(permutation(5, 1ULL << 63, 36) == std::vector<int>{1, 2, 0, 4, 3});
  CHECK(permutation(8, 1, 7) == std::vector<int>{1, 7, 3, 5, 4, 0, 2, 6});
}

TEST_CASE("each number comes to each place about as often") {
  constexpr int count = 5;
  constexpr int trials = 20000;
  std::vector<int> times(count * count);
  for (int number = 0; number < trials; ++number) {
    const auto order = permutation(count, 3, number);
    for (int place = 0; place < count; ++place)
      ++times[static_cast<std::size_t>(place * count + order[static_cast<std::size_t>(place)])];
  }
  // 4000 expected, deviation 57: five deviations.
  for (const int found : times) CHECK(std::abs(found - trials / count) < 285);
}
