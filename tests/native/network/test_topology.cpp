#include "network/topology.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string_view>

namespace {

using nhalf::network::DescriptionLine;
using nhalf::network::Link;
using nhalf::network::read_topology;
using nhalf::network::Topology;
using nhalf::network::Torus;
using nhalf::network::Way;

template <class Kind>
Kind read(std::string_view text) {
  DescriptionLine line(text);
  Topology topology;
  const auto kind = line.word();
  REQUIRE(read_topology(kind, line, topology));
  return std::get<Kind>(topology);
}
template <class Kind>
Way way(const Kind& topology, std::uint32_t from, std::uint32_t to) {
  Way passed;
  topology.pass(from, to, passed);
  for (const Link link : passed) CHECK(link < topology.links());
  return passed;
}
/// Links that both ways pass.
int common(const Way& one, const Way& other) {
  const std::set<Link> links(one.begin(), one.end());
  return static_cast<int>(
      std::count_if(other.begin(), other.end(), [&](Link link) { return links.contains(link); }));
}

TEST_CASE("a star has a link of each node in each direction") {
  const auto star = read<nhalf::network::Star>("star 8");
  CHECK(way(star, 2, 5).size() == 2);
  CHECK(common(way(star, 2, 5), way(star, 3, 5)) == 1);
  CHECK(common(way(star, 2, 5), way(star, 5, 2)) == 0);
}

TEST_CASE("every two nodes have a link of their own") {
  const auto direct = read<nhalf::network::Direct>("direct 4");
  std::set<Link> links;
  for (std::uint32_t from = 0; from < 4; ++from)
    for (std::uint32_t to = 0; to < 4; ++to)
      if (from != to) links.insert(way(direct, from, to).at(0));
  CHECK(links.size() == 12);
}

TEST_CASE("messages of a tree go up to the lowest switch above both nodes") {
  const auto tree = read<nhalf::network::FatTree>("tree node 2 4 4 1 2 1 1");
  CHECK(way(tree, 0, 1).size() == 2);
  CHECK(way(tree, 0, 4).size() == 4);
  // Two cables above each leaf switch, chosen by the node that a message goes to.
  CHECK(common(way(tree, 0, 4), way(tree, 1, 6)) == 2);
  CHECK(common(way(tree, 0, 4), way(tree, 1, 5)) == 0);
  CHECK(common(way(tree, 0, 4), way(tree, 8, 4)) == 2);
  CHECK(common(way(tree, 0, 4), way(tree, 4, 0)) == 0);
}

TEST_CASE("both leaf switches may decide on a cable") {
  const auto tree = read<nhalf::network::FatTree>("tree switch 2 8 32 1 4 1 1");
  CHECK(common(way(tree, 0, 8), way(tree, 1, 15)) == 2);
  CHECK(common(way(tree, 0, 8), way(tree, 1, 16)) == 0);
  CHECK(common(way(tree, 0, 8), way(tree, 1, 40)) == 1);
}

TEST_CASE("every way of a tree of three levels is whole") {
  const auto tree = read<nhalf::network::FatTree>("tree node 3 4 4 2 1 4 4 1 1 1");
  for (std::uint32_t from = 0; from < 32; ++from)
    for (std::uint32_t to = 0; to < 32; ++to) {
      const std::size_t levels = from == to             ? 0
                                 : from / 4 == to / 4   ? 1
                                 : from / 16 == to / 16 ? 2
                                                        : 3;
      const auto passed = way(tree, from, to);
      CHECK(passed.size() == 2 * levels);
      CHECK(std::set<Link>(passed.begin(), passed.end()).size() == passed.size());
    }
}

TEST_CASE("messages of a torus go the shorter way round") {
  const auto torus = read<Torus>("torus 2 5 3");
  CHECK(way(torus, 0, 1).size() == 1);
  CHECK(way(torus, 0, 4).size() == 1);
  CHECK(way(torus, 0, 3).size() == 2);
  CHECK(way(torus, 0, 12).size() == 3);
  CHECK(common(way(torus, 0, 2), way(torus, 1, 2)) == 1);
  CHECK(common(way(torus, 0, 2), way(torus, 2, 0)) == 0);
}

TEST_CASE("what is no topology is not read") {
  for (const auto* text : {"ring 4", "torus", "torus 2 4", "tree node 2 4 4 1 2 1", "star x"}) {
    DescriptionLine line(text);
    Topology topology;
    const auto kind = line.word();
    CHECK_FALSE(read_topology(kind, line, topology));
  }
}

}  // namespace
