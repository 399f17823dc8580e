#include "pgas/layout.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

using nhalf::InputError;
using nhalf::pgas::each_block;
using nhalf::pgas::Layout;
using nhalf::pgas::Place;

namespace {

constexpr std::size_t sizes[] = {0, 1, 2, 7, 8, 24, 37};
constexpr std::size_t blocks[] = {1, 2, 3, 4, 5, 8, 12, 64, std::size_t{1} << 62};
constexpr std::size_t numbers_of_ranks[] = {1, 2, 3, 4, 7};

/// Deals elements out one by one, as one deals cards: where each of them comes to lie.
std::vector<Place> dealt(std::size_t size, std::size_t block, std::size_t ranks) {
  std::vector<Place> found;
  std::vector<std::size_t> held(ranks, 0);
  std::size_t rank = 0;
  for (std::size_t phase = 0; found.size() < size;) {
    found.push_back({rank, phase, held[rank]++});
    if (++phase < block) continue;
    phase = 0;
    rank = (rank + 1) % ranks;
  }
  return found;
}

template <class Check>
void for_every_layout(Check check) {
  for (const auto size : sizes)
    for (const auto block : blocks)
      for (const auto ranks : numbers_of_ranks) {
        CAPTURE(size);
        CAPTURE(block);
        CAPTURE(ranks);
        check(Layout(size, block, ranks), dealt(size, block, ranks));
      }
}

}  // namespace

TEST_CASE("every element lies where dealing blocks in turn puts it, and is found there") {
  for_every_layout([](const Layout& layout, const std::vector<Place>& places) {
    bool right = true;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto& place = places[i];
      right = right && layout.place(i) == place && layout.rank_of(i) == place.rank;
      right = right && layout.index(place) == i && layout.index(place.rank, place.local) == i;
    }
    CHECK(right);
  });
}

TEST_CASE("ranks have as many elements as were dealt to them, rank 0 most") {
  for_every_layout([](const Layout& layout, const std::vector<Place>& places) {
    std::vector<std::size_t> held(layout.ranks(), 0);
    for (const auto& place : places) ++held[place.rank];
    for (std::size_t rank = 0; rank < layout.ranks(); ++rank) {
      CHECK(layout.count(rank) == held[rank]);
      CHECK(layout.count(rank) <= layout.count(0));
    }
  });
}

TEST_CASE("a pointer moved by any step is at the element that the step leads to") {
  for_every_layout([](const Layout& layout, const std::vector<Place>& places) {
    if (layout.block() > layout.size()) return;
    bool right = true;
    for (std::size_t from = 0; from < places.size(); ++from)
      for (std::size_t to = 0; to < places.size(); ++to) {
        const auto step = static_cast<std::ptrdiff_t>(to) - static_cast<std::ptrdiff_t>(from);
        right = right && layout.moved(places[from], step) == places[to];
      }
    CHECK(right);
  });
}

TEST_CASE("steps by whole rounds stay at the rank and phase, and no others do") {
  for_every_layout([](const Layout& layout, const std::vector<Place>& places) {
    if (layout.block() > layout.size()) return;
    bool right = true;
    for (std::size_t from = 0; from < places.size(); ++from)
      for (std::size_t to = 0; to < places.size(); ++to) {
        const auto& [rank, phase, local] = places[to];
        const auto step = static_cast<std::ptrdiff_t>(to) - static_cast<std::ptrdiff_t>(from);
        const bool stays = rank == places[from].rank && phase == places[from].phase;
        right = right && layout.is_rounds(step) == stays;
        const auto own = static_cast<std::ptrdiff_t>(local - places[from].local);
        right = right && (!stays || layout.own_step(step) == own);
      }
    CHECK(right);
  });
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  for (const auto block : {most, most / 2 + 1, most / 4 + 1})
    CHECK_FALSE(Layout(10, block, 4).is_rounds(1));
}

TEST_CASE("a rank's blocks are all its elements in the order of its memory") {
  for_every_layout([](const Layout& layout, const std::vector<Place>& places) {
    for (std::size_t rank = 0; rank < layout.ranks(); ++rank) {
      std::vector<std::size_t> seen, own;
      std::size_t expected_local = 0;
      each_block(layout, rank, [&](std::size_t first, std::size_t local, std::size_t count) {
        CHECK(count > 0);
        CHECK(local == expected_local);
        expected_local += count;
        for (std::size_t i = first; i < first + count; ++i) seen.push_back(i);
      });
      for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i].rank == rank) own.push_back(i);
      CHECK(seen == own);
    }
  });
}

TEST_CASE("an even layout has one block for each rank, and rank 0 the longest") {
  CHECK(Layout::even(10, 3).block() == 4);
  CHECK(Layout::even(10, 3).count(0) == 4);
  CHECK(Layout::even(10, 3).count(2) == 2);
  CHECK(Layout::even(0, 3).block() == 1);
  CHECK(Layout::even(2, 5).count(1) == 1);
  CHECK(Layout::even(2, 5).count(4) == 0);
}

TEST_CASE("blocks of nothing are refused") {
  CHECK_THROWS_AS(Layout(10, 0, 2), InputError);
  CHECK_THROWS_AS(Layout(10, 1, 0), InputError);
}
