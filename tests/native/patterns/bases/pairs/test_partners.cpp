// Everybody meets everybody, and where several ranks share a host, its network link is always
// shared by equally many pairs.
#include "patterns/bases/pairs/partners.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

using namespace nhalf;

namespace {

/// How often each pair meets in rounds 0 to ranks - 1; empty when a round is not a set of pairs.
std::map<std::pair<int, int>, int> meetings(int ranks, const std::vector<int>& hosts) {
  const Tournament tournament(ranks, hosts);
  std::map<std::pair<int, int>, int> found;
  for (int round = 0; round < ranks; ++round) {
    const auto opponents = tournament.opponents(round);
    if (opponents.size() != static_cast<std::size_t>(ranks)) return {};
    for (int rank = 0; rank < ranks; ++rank) {
      const int other = opponents[static_cast<std::size_t>(rank)];
      if (other == -1) continue;
      if (other < 0 || other >= ranks || other == rank) return {};
      if (opponents[static_cast<std::size_t>(other)] != rank) return {};
      if (rank < other) ++found[{rank, other}];
    }
  }
  return found;
}

/// By rank its host, where ranks fill one host after the other, or take turns.
std::vector<int> dealt(int count, int each, bool in_turn) {
  std::vector<int> hosts;
  for (int rank = 0; rank < count * each; ++rank)
    hosts.push_back(in_turn ? rank % count : rank / each);
  return hosts;
}

}  // namespace

TEST_CASE("every pair meets once; of an even number in a circle the first round comes again") {
  for (int ranks = 2; ranks <= 33; ++ranks) {
    CAPTURE(ranks);
    const auto found = meetings(ranks, {});
    REQUIRE(found.size() == static_cast<std::size_t>(ranks * (ranks - 1) / 2));
    std::set<std::pair<int, int>> twice;
    for (const auto& [pair, count] : found) {
      CHECK(count <= 2);
      if (count == 2) twice.insert(pair);
    }
    CHECK(twice.size() == static_cast<std::size_t>(ranks % 2 == 0 ? ranks / 2 : 0));
  }
}

TEST_CASE("every pair of ranks of several hosts meets, whatever their numbers") {
  for (int count = 1; count <= 7; ++count)
    for (int each = 1; each <= 6; ++each)
      for (const bool in_turn : {false, true}) {
        const int ranks = count * each;
        if (ranks < 2) continue;
        CAPTURE(count);
        CAPTURE(each);
        const auto found = meetings(ranks, dealt(count, each, in_turn));
        REQUIRE(found.size() == static_cast<std::size_t>(ranks * (ranks - 1) / 2));
        int again = 0;
        for (const auto& [pair, times] : found) again += times - 1;
        const bool comes_again =
            ranks % 2 == 0 && (count == 1 || each == 1 || (count % 2 == 0 && each % 2 == 0));
        CHECK(again == (comes_again ? ranks / 2 : 0));
      }
  for (const auto& hosts : {std::vector{0, 0, 0, 1}, {0, 1, 1, 0, 1}, {0, 0, 1, 1, 2}}) {
    const auto ranks = hosts.size();
    CHECK(meetings(static_cast<int>(ranks), hosts).size() == ranks * (ranks - 1) / 2);
  }
}

TEST_CASE("in a round all ranks of a host meet those of one other, or those beside them") {
  for (int count = 2; count <= 7; ++count)
    for (int each = 2; each <= 6; ++each)
      for (const bool in_turn : {false, true}) {
        CAPTURE(count);
        CAPTURE(each);
        const auto hosts = dealt(count, each, in_turn);
        const Tournament tournament(count * each, hosts);
        for (int round = 0; round < count * each; ++round) {
          std::map<int, std::set<int>> met;
          const auto opponents = tournament.opponents(round);
          for (std::size_t rank = 0; rank < hosts.size(); ++rank)
            if (opponents[rank] >= 0)
              met[hosts[rank]].insert(hosts[static_cast<std::size_t>(opponents[rank])]);
          for (const auto& [host, others] : met) CHECK(others.size() == 1);
        }
      }
}

TEST_CASE("a round says who its pairs are, in either direction") {
  const Case point{.size_bytes = 1, .axes = Options::parse("round=1", ','), .hosts = {}};
  const TournamentRound up(3, point);
  const TournamentRound down(3, point, false);
  // 1 meets 2, and 0 rests.
  CHECK(up.partners(0).first == -1);
  CHECK(up.partners(2).first == 1);
  CHECK(down.partners(1).first == 2);
  REQUIRE(up.values().size() == 1);
  CHECK(up.values()[0].name == "peer_of_1");
  CHECK(up.values()[0].value == 2);
  CHECK(down.values()[0].name == "peer_of_2");
  for (const auto* axes : {"round=0", "round=4", "other=1"}) {
    const Case wrong{.size_bytes = 1, .axes = Options::parse(axes, ','), .hosts = {}};
    CHECK_THROWS_AS(TournamentRound(3, wrong), InputError);
  }
}
