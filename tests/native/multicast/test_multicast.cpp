// Every way to multicast, on tori of 1 to 3 dimensions: whom it reaches, in how many steps, and
// over which links.
#include <doctest/doctest.h>

#include <bit>
#include <numeric>
#include <set>

#include "contract/permutation.hpp"
#include "multicast/all_multicasts.hpp"

using namespace nhalf;

namespace {

const MulticastInfo& named(std::string_view name) {
  for (const auto& info : multicasts())
    if (info.name == name) return info;
  throw InputError("no multicast " + std::string(name));
}

std::vector<Topology> tori() {
  std::vector<Topology> found;
  for (const char* text : {"1", "2", "5", "16", "4x4", "8x8", "3x3", "4x2", "2x4", "1x6", "4x4x4",
                           "4x4x2", "2x2x2", "3x3x3"})
    for (const bool one_way : {false, true})
      found.push_back(Topology::torus(parse_dimensions(text), one_way));
  return found;
}

/// The first `size` of the other nodes in a random order.
Multicast group(const Topology& topology, int source, int size, std::uint64_t seed, int parts = 1) {
  Multicast made{.topology = topology, .source = source, .destinations = {}, .parts = parts};
  for (const int node : permutation(topology.nodes(), seed, 0))
    if (node != source && static_cast<int>(made.destinations.size()) < size)
      made.destinations.push_back(node);
  return made;
}

/// Calls `check` with groups of 0, 1, 2, some and all other nodes of every torus, from two sources.
template <class Check>
void everywhere(const Check& check) {
  for (const auto& topology : tori()) {
    const int others = topology.nodes() - 1;
    for (const int size : std::set<int>{0, std::min(1, others), std::min(2, others), others / 3,
                                        2 * others / 3, others})
      for (const int source : std::set<int>{0, topology.nodes() / 2})
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
          CAPTURE(topology.dimensions());
          CAPTURE(size);
          CAPTURE(source);
          CAPTURE(seed);
          check(group(topology, source, size, seed));
        }
  }
}

int last_step(const Schedule& schedule, int source) {
  return std::ranges::max(steps_of(schedule, source));
}

int log2_up(int nodes) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(nodes) - 1));
}

/// In every step, how many messages pass the link that most of them pass.
int most_on_a_link(const Multicast& multicast, const Schedule& schedule) {
  const auto steps = steps_of(schedule, multicast.source);
  std::map<std::pair<int, network::Link>, int> passed;
  int most = 0;
  for (std::size_t from = 0; from < schedule.size(); ++from)
    for (const int to : schedule[from])
      for (const auto link : multicast.topology.route(static_cast<int>(from), to))
        most = std::max(most, ++passed[{steps[static_cast<std::size_t>(to)], link}]);
  return most;
}

}  // namespace

TEST_CASE("there are eight ways, found by their folder") {
  std::vector<std::string_view> names;
  for (const auto& info : multicasts()) names.push_back(info.name);
  CHECK(names == std::vector<std::string_view>{"binary", "binomial", "md-torus", "mu-torus",
                                               "s-torus", "separate", "serial", "u-torus"});
}

TEST_CASE("every destination gets the message once, and nobody else takes part") {
  for (const auto& info : multicasts())
    everywhere([&](Multicast multicast) {
      CAPTURE(info.name);
      for (const int parts : {1, 2, 3, 100}) {
        multicast.parts = parts;
        const auto schedule = info.make(multicast);
        REQUIRE(schedule.size() == static_cast<std::size_t>(multicast.topology.nodes()));
        std::vector<int> got;
        for (const auto& forwards : schedule)
          got.insert(got.end(), forwards.begin(), forwards.end());
        std::ranges::sort(got);
        auto wanted = multicast.destinations;
        std::ranges::sort(wanted);
        CHECK(got == wanted);
        // As each is sent to once, a node that a step is known of was reached from the source.
        const auto steps = steps_of(schedule, multicast.source);
        for (const int node : wanted) CHECK(steps[static_cast<std::size_t>(node)] > 0);
      }
    });
}

TEST_CASE("steps: one destination each, a chain, halves") {
  everywhere([](const Multicast& multicast) {
    const int d = static_cast<int>(multicast.destinations.size());
    const auto steps = [&](std::string_view name) {
      return last_step(named(name).make(multicast), multicast.source);
    };
    CHECK(steps("separate") == d);
    CHECK(steps("serial") == d);
    CHECK(steps("s-torus") == d);
    CHECK(steps("binomial") == log2_up(d + 1));
    CHECK(steps("u-torus") == log2_up(d + 1));
  });
  const auto ring = Topology::torus({16}, false);
  CHECK(last_step(named("binary").make(group(ring, 0, 15, 1)), 0) == 6);
}

TEST_CASE("the binary tree has a root with two sons, each of which has two") {
  const auto schedule = named("binary").make(group(Topology::crossbar(7), 2, 6, 1));
  CHECK(schedule == Schedule{{}, {}, {3, 4}, {5, 6}, {0, 1}, {}, {}});
}

TEST_CASE("U-torus: in no step a channel carries more than two messages; the binomial tree's do") {
  bool shares = false;
  everywhere([&](const Multicast& multicast) {
    const auto schedule = named("u-torus").make(multicast);
    CHECK(most_on_a_link(multicast, schedule) <= 2);
    shares = shares || most_on_a_link(multicast, schedule) == 2;
  });
  CHECK(shares);
  const auto torus = Topology::torus({8, 8}, true);
  int most = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto multicast = group(torus, 0, 40, seed);
    most = std::max(most, most_on_a_link(multicast, named("binomial").make(multicast)));
  }
  CHECK(most > 2);
}

TEST_CASE("the walk through a torus is closed and made of single steps up") {
  for (const auto& topology : tori()) {
    CAPTURE(topology.dimensions());
    const TorusOrder order(topology);
    const int nodes = topology.nodes();
    std::vector<int> at(static_cast<std::size_t>(nodes), -1);
    for (int node = 0; node < nodes; ++node) {
      const int place = order.place(node);
      REQUIRE(place >= 0);
      REQUIRE(place < nodes);
      at[static_cast<std::size_t>(place)] = node;
    }
    for (int place = 0; place < nodes && nodes > 1; ++place) {
      const int from = at[static_cast<std::size_t>(place)];
      const int to = at[static_cast<std::size_t>((place + 1) % nodes)];
      REQUIRE(from >= 0);
      const auto up = topology.relative(from, to);
      CHECK(std::accumulate(up.begin(), up.end(), 0) == 1);
    }
  }
}

TEST_CASE("on k x k nodes the walk is that of the publication") {
  const auto torus = Topology::torus({5, 5}, true);
  const TorusOrder order(torus);
  for (int node = 0; node < 25; ++node) {
    const int x = torus.coordinate(node, 0);
    const int y = torus.coordinate(node, 1);
    CHECK(order.place(node) == 5 * x + (x + y) % 5);
  }
}

TEST_CASE("with everybody, S-torus passes as many links as there are destinations, none twice") {
  for (const auto& topology : tori()) {
    const int others = topology.nodes() - 1;
    const auto schedule = named("s-torus").make(group(topology, others / 2, others, 1));
    const auto visits = link_visits(topology, schedule);
    CHECK(visits.size() == static_cast<std::size_t>(others));
    for (const auto& [link, times] : visits) CHECK(times == 1);
  }
}

TEST_CASE("sizes that do not divide each other have no walk, and say so") {
  const auto torus = Topology::torus({4, 3}, false);
  CHECK_THROWS_WITH_AS(named("s-torus").make(group(torus, 0, 5, 1)),
                       doctest::Contains("divide each other"), InputError);
  CHECK_THROWS_AS(named("mu-torus").make(group(torus, 0, 5, 1)), InputError);
  CHECK(named("md-torus").make(group(torus, 0, 11, 1)).size() == 12);
}

TEST_CASE("M_d-torus: one worm of a node in each dimension; with everybody, single steps") {
  everywhere([](const Multicast& multicast) {
    const auto& topology = multicast.topology;
    const auto schedule = named("md-torus").make(multicast);
    const bool everybody =
        multicast.destinations.size() + 1 == static_cast<std::size_t>(topology.nodes());
    for (std::size_t from = 0; from < schedule.size(); ++from) {
      CHECK(schedule[from].size() <= topology.dimensions().size());
      for (const int to : schedule[from]) {
        const auto up = topology.relative(static_cast<int>(from), to);
        if (everybody) CHECK(std::accumulate(up.begin(), up.end(), 0) == 1);
      }
    }
  });
  // Three steps round the ring and three across it.
  const auto torus = Topology::torus({4, 4}, true);
  CHECK(last_step(named("md-torus").make(group(torus, 5, 15, 1)), 5) == 6);
}

TEST_CASE("M_u-torus: r = 1 halves, r = d is the S-torus, between them few worms") {
  const auto torus = Topology::torus({4, 4}, true);
  for (int size = 0; size <= 15; ++size) {
    auto multicast = group(torus, 3, size, 7);
    const auto of_parts = [&](int parts) {
      multicast.parts = parts;
      return named("mu-torus").make(multicast);
    };
    CHECK(last_step(of_parts(1), 3) == log2_up(size + 1));
    if (size > 0) CHECK(of_parts(size) == named("s-torus").make(multicast));
    // Two phases of three forwards each: 16 nodes in 4 parts.
    if (size == 15) CHECK(of_parts(3)[3].size() == 2);
  }
}

TEST_CASE("routes: by dimension, on the shorter way round, or up on rings of one way") {
  const auto both = Topology::torus({5, 4}, false);
  const auto up = Topology::torus({5, 4}, true);
  CHECK(both.route(0, 0).empty());
  CHECK(both.route(0, 2).size() == 2);
  CHECK(both.route(0, 4).size() == 1);
  CHECK(up.route(0, 4).size() == 4);
  CHECK(both.route(0, 10) == up.route(0, 10));  // as far either way: up
  CHECK(both.route(0, 19).size() == 2);
  CHECK(up.route(1, 0).size() == 4);
  // Out of a node and into another are different links, also around a switch.
  CHECK(Topology::crossbar(3).route(0, 2) == network::Way{0, 5});
  for (int from = 0; from < 20; ++from)
    for (int to = 0; to < 20; ++to) {
      const auto links = both.route(from, to);
      CHECK(std::set<int>(links.begin(), links.end()).size() == links.size());
    }
}

TEST_CASE("link visits count every message on every link") {
  const auto ring = Topology::torus({4}, true);
  const auto multicast = group(ring, 0, 3, 1);
  CHECK(link_visits(ring, named("separate").make(multicast)) ==
        std::map<network::Link, int>{{0, 3}, {2, 2}, {4, 1}});
  CHECK(link_visits(ring, named("serial").make(multicast)) ==
        std::map<network::Link, int>{{0, 1}, {2, 1}, {4, 1}});
}

TEST_CASE("what is no topology says so") {
  for (const char* text : {"", "0", "4x", "x", "4x-1", "4,4", "a", "1048576x2"})
    CHECK_THROWS_AS(Topology::torus(parse_dimensions(text), false), InputError);
  CHECK(Topology::torus(parse_dimensions("1048576"), false).nodes() == 1 << 20);
}
