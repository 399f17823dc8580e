// What a multicast takes: whole messages one after the other, and shares of links.
#include "multicast/bases/run.hpp"

#include <doctest/doctest.h>

using namespace nhalf;
using namespace nhalf::multicast;

namespace {

/// Nothing takes time but bytes on links, one each second.
Costs free_of_charge() {
  Costs costs;
  costs.link_Bps = 1;
  return costs;
}

Outcome outcome(const Topology& topology, const Schedule& schedule, const Costs& costs,
                Forwarding forwarding = Forwarding::host,
                const std::vector<std::size_t>& pieces = {12}) {
  return Run(topology, schedule, 0, costs, forwarding, pieces).run();
}

}  // namespace

TEST_CASE("a multicast to nobody takes no time") {
  const auto alone = outcome(Topology::crossbar(1), {{}}, free_of_charge());
  CHECK(alone.completion_s == 0);
  CHECK(alone.done_s == std::vector<double>{0});
}

TEST_CASE("messages of one sender follow each other, those of two share the link that both pass") {
  CHECK(outcome(Topology::crossbar(3), {{1, 2}, {}, {}}, free_of_charge()).done_s ==
        std::vector<double>{0, 12, 24});
  // 1 -> 3 and 0 -> 2 pass the link from 1 to 2 at once.
  const auto ring = Topology::torus({4}, true);
  CHECK(outcome(ring, {{1, 2}, {3}, {}, {}}, free_of_charge()).done_s ==
        std::vector<double>{0, 12, 36, 36});
}

TEST_CASE("who goes on beside others gets what they leave when they have ended") {
  // 0 -> 2 passes alone from 12 s to 18 s, then beside 1 -> 3, which is alone from 30 s on.
  const auto ring = Topology::torus({4}, true);
  auto costs = free_of_charge();
  costs.receive_overhead_s = 6;
  CHECK(outcome(ring, {{1, 2}, {3}, {}, {}}, costs).done_s ==
        std::vector<double>{0, 18, 30 + 6, 36 + 6});
}

TEST_CASE("pieces pass a chain side by side, and an empty message takes what its head takes") {
  const auto ring = Topology::torus({4}, true);
  const Schedule chain{{1}, {2}, {3}, {}};
  CHECK(outcome(ring, chain, free_of_charge(), Forwarding::adapter, {6, 6}).completion_s == 24);
  CHECK(outcome(ring, chain, free_of_charge(), Forwarding::adapter).completion_s == 36);
  auto costs = free_of_charge();
  costs.link_latency_s = 0.5;
  CHECK(outcome(ring, {{2}, {}, {}, {}}, costs, Forwarding::host, {0}).completion_s == 1);
}
