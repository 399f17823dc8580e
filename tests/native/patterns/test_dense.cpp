// The phases of the dense patterns: who meets whom.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

#include "rank_counts.hpp"
#include "recording.hpp"

#include "patterns/traffic/dense.hpp"

namespace nhalf::test_dense {

namespace {

constexpr std::size_t size = 100;

std::string phase(int number) {
  return "phase=" + std::to_string(number);
}

/// Both ways between two ranks, once a round; nobody is in two pairs.
void check_pairs(const Traffic& traffic, int pairs, int rounds) {
  CHECK(traffic.verified);
  CHECK(traffic.data.size() == static_cast<std::size_t>(2 * pairs));
  CHECK(traffic.empty.empty());
  CHECK(traffic.moved_bytes == static_cast<std::uint64_t>(2 * pairs) * size);
  std::set<int> seen;
  for (const auto& [who, count] : traffic.data) {
    CHECK(count == rounds);
    CHECK(traffic.data.contains({who.second, who.first}));
    CHECK(seen.insert(who.first).second);
  }
}

}  // namespace

TEST_CASE("all to all: to the rank `phase` above, from the one `phase` below") {
  for (const int ranks : rank_counts)
    for (int k = 1; k < ranks; ++k) {
      CAPTURE(ranks);
      CAPTURE(k);
      Traffic traffic;
      record<DenseAlltoall>(traffic, ranks, size, phase(k), 3);
      CHECK(traffic.verified);
      CHECK(traffic.moved_bytes == static_cast<std::uint64_t>(ranks) * size);
      CHECK(traffic.data.size() == static_cast<std::size_t>(ranks));
      for (int rank = 0; rank < ranks; ++rank) CHECK(traffic.data[{rank, (rank + k) % ranks}] == 3);
    }
}

TEST_CASE("pairwise: every pair lies `phase` apart, as many as fit into blocks") {
  for (const int ranks : rank_counts)
    for (int k = 1; k < ranks; ++k) {
      CAPTURE(ranks);
      CAPTURE(k);
      Traffic traffic;
      record<DensePairwise>(traffic, ranks, size, phase(k), 2);
      int pairs = 0;
      for (int rank = 0; rank + k < ranks; ++rank) pairs += rank % (2 * k) < k ? 1 : 0;
      check_pairs(traffic, pairs, 2);
      for (const auto& [who, count] : traffic.data) CHECK(std::abs(who.first - who.second) == k);
    }
}

TEST_CASE("pairwise among powers of two: rank with rank XOR phase") {
  for (const int ranks : {2, 4, 8, 16})
    for (int k = 1; k < ranks; k *= 2)
      for (int rank = 0; rank < ranks; ++rank)
        CHECK(pairwise_partner(rank, ranks, k) == (rank ^ k));
}

TEST_CASE("cumulative: the pairs of a phase are those of the one before and one more") {
  for (const int ranks : rank_counts)
    for (int k = 1; k <= ranks / 2; ++k) {
      CAPTURE(ranks);
      CAPTURE(k);
      Traffic traffic;
      record<DenseCumulative>(traffic, ranks, size, phase(k), 2);
      check_pairs(traffic, k, 2);
      for (int first = 0; first < k; ++first) CHECK(traffic.data[{first, first + ranks / 2}] == 2);
    }
}

TEST_CASE("random: everybody has a partner, but one where they are odd; drawn anew each time") {
  for (const int ranks : rank_counts) {
    std::set<std::set<std::pair<int, int>>> drawn;
    for (int k = 1; k < ranks; ++k) {
      CAPTURE(ranks);
      CAPTURE(k);
      Traffic traffic;
      record<DenseRandom>(traffic, ranks, size, phase(k), 2);
      check_pairs(traffic, ranks / 2, 2);
      std::set<std::pair<int, int>> who;
      for (const auto& [pair, count] : traffic.data) who.insert(pair);
      drawn.insert(who);
    }
    if (ranks > 8) CHECK(drawn.size() == static_cast<std::size_t>(ranks - 1));
  }
}

TEST_CASE("another seed draws other pairs, the same seed the same") {
  Traffic first;
  record<DenseRandom>(first, 16, size, phase(1));
  Traffic again;
  record<DenseRandom>(again, 16, size, phase(1) + ",seed=1");
  Traffic other;
  record<DenseRandom>(other, 16, size, phase(1) + ",seed=2");
  CHECK(first.data == again.data);
  CHECK(first.data != other.data);
}

TEST_CASE("a wrong byte is found; phases that there are not are refused") {
  Traffic traffic;
  record<DenseAlltoall>(traffic, 5, size, phase(2), 1, true);
  CHECK(!traffic.verified);
  ProbeTransport::launch(0, nullptr, 5, Options{}, [](ProbeTransport& t) {
    using All = DenseAlltoall<ProbeTransport>;
    using Cumulative = DenseCumulative<ProbeTransport>;
    for (const auto* axes : {"", "phase=0", "phase=5", "phase=-1"})
      CHECK_THROWS_AS(All(t, case_of(1, axes)), InputError);
    CHECK_THROWS_AS(Cumulative(t, case_of(1, "phase=3")), InputError);
  });
}

TEST_CASE("a phase takes the time of one message where nothing is shared" *
          doctest::skip(!exact_times)) {
  for (const int ranks : {2, 3, 6, 8, 17})
    for (const auto* name :
         {"dense-alltoall", "dense-pairwise", "dense-cumulative", "dense-random"})
      for (const int k : {1, ranks / 2})
        for (const std::size_t n : {0UL, 1000UL, 100000UL}) {
          CAPTURE(ranks);
          CAPTURE(name);
          CAPTURE(k);
          CAPTURE(n);
          CHECK(time_of(name, ranks, n, phase(k)) == doctest::Approx(one_way_s(n)).epsilon(1e-9));
        }
}

}  // namespace nhalf::test_dense
