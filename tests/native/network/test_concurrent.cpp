#include "network/concurrent.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using nhalf::network::Concurrent;
using nhalf::network::Question;

using Numbers = std::vector<double>;
using Pairs = std::vector<std::pair<int, int>>;

constexpr double no_limit = std::numeric_limits<double>::infinity();

/// A machine whose ranks are on these nodes, with the rates of all kinds in every draw.
struct Machine {
  std::string lines;
  std::vector<std::int32_t> nodes;
  Numbers capacity_Bps;
  Numbers blocked = {1};
  Numbers both_ways = {2};

  [[nodiscard]] Numbers load(const Pairs& pairs, bool is_spread = false) const {
    return answered(pairs, nullptr, is_spread, blocked.size());
  }
  [[nodiscard]] Numbers flow(const Pairs& pairs, const Numbers& alone_Bps) const {
    return answered(pairs, alone_Bps.data(), false, alone_Bps.size());
  }

 private:
  [[nodiscard]] Numbers answered(const Pairs& pairs, const double* alone_Bps, bool is_spread,
                                 std::size_t size) const {
    std::vector<std::int32_t> from, to;
    for (const auto& [source, target] : pairs) {
      from.push_back(source);
      to.push_back(target);
    }
    Numbers answer(size);
    const Question question{.machine = lines.c_str(),
                            .ranks = static_cast<std::int64_t>(nodes.size()),
                            .messages = static_cast<std::int64_t>(pairs.size()),
                            .draws = static_cast<std::int64_t>(blocked.size()),
                            .is_spread = is_spread,
                            .nodes = nodes.data(),
                            .from = from.data(),
                            .to = to.data(),
                            .capacity_Bps = capacity_Bps.data(),
                            .blocked = blocked.data(),
                            .alone_Bps = alone_Bps,
                            .both_ways = both_ways.data(),
                            .answer = answer.data()};
    Concurrent concurrent(question);
    REQUIRE(concurrent.read());
    alone_Bps == nullptr ? concurrent.load() : concurrent.flow();
    return answer;
  }
};

const std::string star_of_four = "link 1 1\ntopology star 4\n";

TEST_CASE("a link to which several messages come gets less through") {
  const Machine machine{star_of_four, {0, 1, 2}, {100, no_limit, no_limit}, {0.5}};
  CHECK(machine.load({{0, 1}}) == Numbers{0.01});
  CHECK(machine.load({{0, 1}, {1, 0}}) == Numbers{0.01});
  CHECK(machine.load({{0, 1}, {0, 2}}) == Numbers{0.04});
  CHECK(machine.flow({{0, 1}, {0, 2}}, {80, 80}) == Numbers{25, 25});
}

TEST_CASE("both directions share the links of a half-duplex network") {
  const Machine machine{"link 1 0\ntopology star 4", {0, 1}, {100, no_limit, no_limit}};
  CHECK(machine.load({{0, 1}, {1, 0}}) == Numbers{0.02});
}

TEST_CASE("ranks of a node share its adapter, and within a node nothing but memory") {
  const Machine machine{"memory 1\nshare 0 1 1 1", {0, 0, 1, 1}, {no_limit, no_limit, 50, 10, 15}};
  CHECK(machine.load({{0, 2}, {1, 3}}) == Numbers{0.2});
  CHECK(machine.load({{0, 2}, {3, 1}}) == Numbers{2 / 15.});
  CHECK(machine.load({{0, 1}, {1, 0}}) == Numbers{0.04});
  CHECK(machine.flow({{0, 2}, {1, 3}, {0, 1}}, {8, 8, 30}) == Numbers{5, 5, 25});
}

TEST_CASE("messages that spread take all cables between two switches alike") {
  const Machine machine{"link 1 1\ntopology tree switch 2 4 2 1 4 1 1",
                        {0, 1, 2, 3, 4, 5, 6, 7},
                        {1, no_limit, no_limit}};
  const Pairs pairs = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  CHECK(machine.load(pairs) == Numbers{4});
  CHECK(machine.load(pairs, true) == Numbers{1});
}

TEST_CASE("a rank sends and receives less than both one after the other allow") {
  const Machine machine{star_of_four, {0, 1}, {no_limit, no_limit, no_limit}, {1}, {1}};
  CHECK(machine.flow({{0, 1}}, {60}) == Numbers{60});
  CHECK(machine.flow({{0, 1}, {1, 0}}, {60, 60}) == Numbers{30, 30});
  CHECK(machine.flow({{0, 1}, {0, 1}}, {60, 60}) == Numbers{30, 30});
}

TEST_CASE("draws do not mind each other") {
  const Machine machine{"medium 1", {0, 1, 2, 3}, {1, 2, 1, 1, 8, 1}, {1, 1}, {2, 2}};
  CHECK(machine.load({{0, 1}, {2, 3}}) == Numbers{1, 0.25});
  CHECK(machine.flow({{0, 1}, {2, 3}}, {3, 3, 3, 9}) == Numbers{1, 1, 3, 5});
}

TEST_CASE("what is no machine has no answer") {
  const std::int32_t node = 0;
  for (const auto* text : {"cable 1", "link x 1", "link 1 1\ntopology torus 3 60000 60000 60000"}) {
    const Question question{.machine = text, .ranks = 1, .nodes = &node};
    CHECK_FALSE(Concurrent(question).read());
  }
}

}  // namespace
