// Maps of all pairs: who sends how much to whom, and that each pair has its own time.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "rank_counts.hpp"
#include "recording.hpp"

#include "patterns/pairs/pair_map.hpp"

namespace nhalf::test_pair_map {

namespace {

constexpr int window = 4;

std::string round_axes(int round, const std::string& direction = "") {
  return "round=" + std::to_string(round) + (direction.empty() ? "" : ",direction=" + direction);
}

/// What the simulated machine says of one point.
Measurement measured(const std::string& name, int ranks, std::size_t size_bytes,
                     const std::string& axes, const std::string& slow) {
  Measurement found;
  const auto options = Options::parse(std::string(machine) + "," + slow, ',');
  ProbeTransport::launch(0, nullptr, ranks, options, [&](ProbeTransport& transport) {
    for (const auto& entry : patterns<ProbeTransport>()) {
      if (entry.info.name != name) continue;
      const auto pattern = entry.make(transport, case_of(size_bytes, axes));
      auto mine = Sampler(transport, calibrate(transport), Effort{}).measure(*pattern, entry.info);
      if (transport.rank() == 0) found = std::move(mine);
    }
  });
  return found;
}

/// Seconds by sender and receiver from all rounds of a map.
std::map<std::pair<int, int>, double> map_of(const std::string& name, int ranks, std::size_t n,
                                             const std::string& direction,
                                             const std::string& slow) {
  std::map<std::pair<int, int>, double> times_s;
  for (int round = 1; round <= ranks; ++round) {
    const auto found = measured(name, ranks, n, round_axes(round, direction), slow);
    for (const auto& [value_name, peer] : found.values) {
      const int first = std::stoi(value_name.substr(std::string("peer_of_").size()));
      times_s[{first, static_cast<int>(peer)}] = found.rank_s[static_cast<std::size_t>(first)];
    }
  }
  return times_s;
}

}  // namespace

TEST_CASE("the pairs of a round play ping-pong, or stream one way, and nobody else says anything") {
  for (const int ranks : rank_counts)
    for (int round = 1; round <= ranks; ++round) {
      CAPTURE(ranks);
      CAPTURE(round);
      const TournamentRound pairs(ranks, case_of(1, round_axes(round)));
      const auto count = static_cast<int>(pairs.values().size());
      CHECK(count == ranks / 2);
      Traffic pingpong, up, down;
      record<PairMapLatency>(pingpong, ranks, 100, round_axes(round), 3);
      record<PairMapBandwidth>(up, ranks, 100, round_axes(round, "up"), 3);
      record<PairMapBandwidth>(down, ranks, 100, round_axes(round, "down"), 3);
      CHECK(pingpong.verified);
      CHECK(up.verified);
      CHECK(down.verified);
      CHECK(pingpong.messages() == 2 * 3 * count);
      CHECK(up.messages() == 3 * count);
      CHECK(down.messages() == 3 * count);
      for (int rank = 0; rank < ranks; ++rank) {
        const auto [first, second] = pairs.partners(rank);
        if (first != rank) continue;
        CHECK(pingpong.data[{first, second}] == 3);
        CHECK(pingpong.data[{second, first}] == 3);
        CHECK(up.data[{first, second}] == 3);
        CHECK(up.empty[{second, first}] == 1);
        CHECK(down.data[{second, first}] == 3);
        CHECK(down.empty[{first, second}] == 1);
      }
    }
}

TEST_CASE("together everybody sends a window to everybody in each round") {
  for (const int ranks : {2, 3, 5, 8}) {
    CAPTURE(ranks);
    Traffic traffic;
    record<PairMapTogether>(traffic, ranks, 100, "", 3);
    CHECK(traffic.verified);
    CHECK(traffic.messages() == 3 * window * ranks * (ranks - 1));
    for (int from = 0; from < ranks; ++from)
      for (int to = 0; to < ranks; ++to)
        CHECK(traffic.data[{from, to}] == (from == to ? 0 : 3 * window));
    CHECK(traffic.moved_bytes == static_cast<std::uint64_t>(window * ranks * (ranks - 1)) * 100);
  }
}

TEST_CASE("a wrong byte in a pair is found") {
  Traffic latency, bandwidth;
  record<PairMapLatency>(latency, 5, 100, round_axes(2), 1, true);
  record<PairMapBandwidth>(bandwidth, 5, 100, round_axes(2, "down"), 1, true);
  CHECK(!latency.verified);
  CHECK(!bandwidth.verified);
}

TEST_CASE("a slow way spoils nobody else's time, nor does it hide behind theirs" *
          doctest::skip(!exact_times)) {
  const std::size_t n = 10000;
  const double gap_s = g + static_cast<double>(n) * G;
  for (const int ranks : {2, 3, 4, 7}) {
    CAPTURE(ranks);
    const std::string slow = "slow=8,slow_from=1,slow_to=0";
    for (const auto& [pair, time_s] : map_of("pair-map-latency", ranks, n, "", slow)) {
      const double factor = pair == std::pair{0, 1} ? 4.5 : 1;
      CHECK(time_s == doctest::Approx(factor * one_way_s(n)).epsilon(1e-9));
    }
    for (const std::string direction : {"up", "down"})
      for (const auto& [pair, time_s] : map_of("pair-map-bandwidth", ranks, n, direction, slow)) {
        CHECK((pair.first < pair.second) == (direction == "up"));
        const double there = pair == std::pair{1, 0} ? 8 : 1;
        CHECK(time_s == doctest::Approx(there * gap_s).epsilon(1e-9));
      }
  }
}

TEST_CASE("a rank that sends slowly does so to all, one that receives slowly from all" *
          doctest::skip(!exact_times)) {
  const std::size_t n = 10000;
  const double gap_s = g + static_cast<double>(n) * G;
  for (const bool sends : {true, false}) {
    const std::string slow = std::string("slow=2,") + (sends ? "slow_from=2" : "slow_to=2");
    for (const std::string direction : {"up", "down"})
      for (const auto& found : map_of("pair-map-bandwidth", 4, n, direction, slow)) {
        const auto& pair = found.first;
        const double there = (sends ? pair.first : pair.second) == 2 ? 2 : 1;
        CAPTURE(pair.first);
        CAPTURE(pair.second);
        CHECK(found.second == doctest::Approx(there * gap_s).epsilon(1e-9));
      }
  }
}

TEST_CASE("all at once: equal ways take the same time, a slow one its own" *
          doctest::skip(!exact_times)) {
  for (const int ranks : {2, 3, 5}) {
    const auto even = measured("pair-map-together", ranks, 10000, "", "slow=1");
    const auto slow =
        measured("pair-map-together", ranks, 10000, "", "slow=8,slow_from=1,slow_to=0");
    REQUIRE(even.values.size() == static_cast<std::size_t>(1 + ranks * (ranks - 1)));
    CHECK(even.values[0].name == "window");
    CHECK(even.values[0].value == window);
    for (std::size_t i = 1; i < even.values.size(); ++i) {
      CAPTURE(even.values[i].name);
      CHECK(even.values[i].value == doctest::Approx(even.values[1].value).epsilon(0.05));
      const double factor = slow.values[i].value / even.values[i].value;
      if (even.values[i].name == "1>0")
        CHECK(factor > 4 / (ranks - 1.0));
      else
        CHECK(factor < 1.15);
    }
  }
}

}  // namespace nhalf::test_pair_map
