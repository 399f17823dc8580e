// The rule, stated in another way than the code: by counting places instead of cutting a list.
#include "patterns/bases/traffic/ring_layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

using nhalf::RingLayout;

namespace {

constexpr std::uint64_t seed = 1;

/// Number of rings of pattern 1 to 6, in tenths to stay with whole numbers: int(p/m + 0.4).
int rings_wanted(int p, int m) {
  return std::max(1, std::min((10 * p + 4 * m) / (10 * m), p / 2));
}

/// Where the ring of a rank begins and how long it is, as the original program finds them.
struct Place {
  int first = 0;
  int size = 0;
};
Place place_of(int p, int m, int rank) {
  const int rings = rings_wanted(p, m);
  const int low = p / rings;
  const int high_count = p % rings;
  const bool high_first = low % 2 == 1 && high_count > 0;
  const int first_size = high_first ? low + 1 : low;
  const int first_count = high_first ? high_count : rings - high_count;
  const int second_size = high_first ? low : low + 1;
  const int edge = first_size * first_count;
  if (rank < edge) return {rank / first_size * first_size, first_size};
  return {(rank - edge) / second_size * second_size + edge, second_size};
}

}  // namespace

TEST_CASE("regular rings: members and neighbours are those of the definition, 1 to 40 ranks") {
  for (int p = 1; p <= 40; ++p) {
    const int targets[] = {2, 4, 8, std::max(16, p / 4), std::max(32, p / 2), p};
    for (int number = 1; number <= 6; ++number) {
      const RingLayout layout(p, number, seed);
      const int m = std::min(targets[number - 1], p);
      CAPTURE(p);
      CAPTURE(number);
      CHECK(static_cast<int>(layout.rings().size()) == rings_wanted(p, m));
      std::size_t messages = 0;
      for (int rank = 0; rank < p; ++rank) {
        const auto [first, size] = place_of(p, m, rank);
        const auto [next, before] = layout.neighbours(rank);
        CHECK(next == first + (rank - first + 1) % size);
        CHECK(before == first + (rank - first + size - 1) % size);
        messages += next == before ? 1 : 2;
      }
      CHECK(layout.messages() == messages);
    }
  }
}

TEST_CASE("rings worked out by hand") {
  using Rings = std::vector<std::vector<int>>;
  CHECK(RingLayout(5, 1, seed).rings() == Rings{{0, 1}, {2, 3, 4}});
  CHECK(RingLayout(5, 1, seed).messages() == 8);
  CHECK(RingLayout(7, 2, seed).rings() == Rings{{0, 1, 2, 3}, {4, 5, 6}});
  CHECK(RingLayout(2, 6, seed).rings() == Rings{{0, 1}});
  CHECK(RingLayout(2, 6, seed).messages() == 2);
  CHECK(RingLayout(3, 1, seed).rings() == Rings{{0, 1, 2}});
  CHECK(RingLayout(9, 2, seed).rings() == Rings{{0, 1, 2, 3}, {4, 5, 6, 7, 8}});
  CHECK(RingLayout(72, 4, seed).rings().size() == 4);
  CHECK(RingLayout(72, 5, seed).rings().size() == 2);
}

TEST_CASE("random patterns are one ring over all ranks, in thirty different orders") {
  for (const int p : {1, 2, 3, 5, 8, 17, 40}) {
    std::set<std::vector<int>> orders;
    for (int number = 7; number <= 36; ++number) {
      const RingLayout layout(p, number, seed);
      REQUIRE(layout.rings().size() == 1);
      auto members = layout.rings().front();
      orders.insert(members);
      for (int i = 0; i < p; ++i) {
        const auto at = static_cast<std::size_t>(i);
        CHECK(layout.neighbours(members[at]).next == members[(at + 1) % members.size()]);
        CHECK(layout.neighbours(members[(at + 1) % members.size()]).before == members[at]);
      }
      CHECK(layout.messages() == static_cast<std::size_t>(p > 2 ? 2 * p : p));
      std::ranges::sort(members);
      for (int i = 0; i < p; ++i) CHECK(members[static_cast<std::size_t>(i)] == i);
    }
    if (p >= 8) CHECK(orders.size() == 30);
  }
}

TEST_CASE("another seed draws other random patterns and the same regular ones") {
  CHECK(RingLayout(17, 7, 1).rings() != RingLayout(17, 7, 2).rings());
  CHECK(RingLayout(17, 2, 1).rings() == RingLayout(17, 2, 2).rings());
}
