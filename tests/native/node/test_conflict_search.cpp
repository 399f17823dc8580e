#include "node/conflict_search.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

using namespace nhalf;

namespace {

constexpr double hit_cycles = 20;
constexpr double miss_cycles = 100;

/// A cache of which each page's line lies in the set of a random colour; least recently used goes.
struct ColouredCache {
  std::size_t ways = 8;
  std::vector<int> colour;
  double disturbed_share = 0;
  std::mt19937 random{7};

  ColouredCache(std::size_t ways_each, int colours, std::size_t pages) : ways(ways_each) {
    for (std::size_t i = 0; i < pages; ++i)
      colour.push_back(static_cast<int>(random() % static_cast<unsigned>(colours)));
  }

  double lap_cycles(std::span<const std::uint32_t> pages, const int* more) const {
    std::map<int, std::size_t> lines;
    for (const auto page : pages) ++lines[colour[page]];
    if (more != nullptr) ++lines[*more];
    double cycles = 0;
    for (const auto& [one, count] : lines)
      cycles += static_cast<double>(count) * (count > ways ? hit_cycles + miss_cycles : hit_cycles);
    return cycles;
  }

  double extra_cycles(std::span<const std::uint32_t> pages, ConflictSearch::Candidate more) {
    // 64 bytes further on is another line, in a set where nobody else is.
    const int elsewhere = -1;
    const int* const set = more.shift_bytes < 64 ? &colour[more.page] : &elsewhere;
    double cycles = lap_cycles(pages, set) - lap_cycles(pages, nullptr);
    if (std::uniform_real_distribution<>()(random) < disturbed_share)
      cycles += std::uniform_real_distribution<>(-3000, 3000)(random);
    return cycles;
  }

  ConflictSearch search() {
    return {[this](std::span<const std::uint32_t> pages, ConflictSearch::Candidate more) {
              return extra_cycles(pages, more);
            },
            hit_cycles, miss_cycles};
  }
};

}  // namespace

TEST_CASE("as many pages fit as the cache holds, and ways and line are found") {
  for (const std::size_t ways : {8U, 12U, 16U}) {
    CAPTURE(ways);
    ColouredCache cache(ways, 32, 1600);
    auto search = cache.search();
    search.fill(1600);
    CHECK(search.fitting().size() == 32 * ways);
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(search.ways_of(search.overflowing()[i]) == ways);
      CHECK(search.line_bytes_of(search.overflowing()[i]) == 64);
    }
  }
}

TEST_CASE("a disturbance now and then takes no page away and adds none") {
  ColouredCache cache(8, 32, 1200);
  cache.disturbed_share = 0.2;
  auto search = cache.search();
  search.fill(1200);
  const auto fitting = static_cast<double>(search.fitting().size());
  CHECK(fitting == doctest::Approx(256).epsilon(0.03));
}

TEST_CASE("where everything fits, nothing is said of ways") {
  ColouredCache cache(16, 64, 500);
  auto search = cache.search();
  search.fill(500);
  CHECK(search.overflowing().empty());
  CHECK(search.ways_of(0) == 0);
}
