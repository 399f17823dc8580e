#include "network/max_min.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace {

using nhalf::network::Load;
using nhalf::network::MaxMin;
using nhalf::network::Sharer;
using nhalf::network::Way;

using Rates = std::vector<std::uint64_t>;

/// Rates of flows by their ways and what each moves alone.
Rates rates(const Rates& capacities, const std::vector<Way>& ways, const Rates& alone) {
  std::vector<Load> loads;
  for (const auto capacity : capacities) loads.push_back({capacity, 0, 0, 0, 0});
  std::vector<Sharer> flows;
  for (std::size_t at = 0; at < ways.size(); ++at) {
    flows.push_back({ways[at], alone[at], 0, 0});
    for (const auto link : ways[at]) loads[link].demand_Bps += alone[at];
  }
  MaxMin().share(flows, loads.data());
  Rates found;
  for (const auto& flow : flows) found.push_back(flow.rate_Bps);
  for (const auto& load : loads) CHECK(load.growing == 0);
  return found;
}

TEST_CASE("flows with room for all of them move what each does alone") {
  CHECK(rates({100}, {{0}, {0}}, {40, 60}) == Rates{40, 60});
}

TEST_CASE("a full link is shared alike, and small flows leave their rest to others") {
  CHECK(rates({90}, {{0}, {0}, {0}}, {90, 90, 90}) == Rates{30, 30, 30});
  CHECK(rates({90}, {{0}, {0}, {0}}, {90, 10, 90}) == Rates{40, 10, 40});
}

TEST_CASE("a flow that is held up elsewhere leaves its rest to others") {
  // The second link gives 20 to each of its flows, so that the first has 80 for its own.
  CHECK(rates({100, 40}, {{0}, {0, 1}, {1}}, {100, 100, 100}) == Rates{80, 20, 20});
}

TEST_CASE("three flows in a row of two links") {
  CHECK(rates({100, 100}, {{0}, {0, 1}, {1}}, {100, 100, 100}) == Rates{50, 50, 50});
}

TEST_CASE("a flow that passes something twice counts twice") {
  CHECK(rates({120}, {{0, 0}, {0}}, {60, 60}) == Rates{40, 40});
}

TEST_CASE("flows of no link are alone") {
  CHECK(rates({10}, {{}, {0}, {0}}, {70, 10, 10}) == Rates{70, 5, 5});
}

}  // namespace
