// Pairs of ranks: which of them, what they send, and that they do not disturb each other where
// nothing makes them.
#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "rank_counts.hpp"
#include "recording.hpp"

#include "patterns/pairs/distance_pairs.hpp"
#include "patterns/pairs/pingpong.hpp"

namespace nhalf::test_pairs {

namespace {

std::string pairs(int count) {
  return "pairs=" + std::to_string(count);
}
std::string between(int first, int second) {
  return "first=" + std::to_string(first) + ",second=" + std::to_string(second);
}

/// The first ranks of the pairs that take part.
std::vector<int> firsts(int ranks, int count) {
  std::vector<int> found;
  for (int rank = 0; rank < ranks; ++rank)
    if (spread_pair(rank, ranks, count).first == rank) found.push_back(rank);
  return found;
}

}  // namespace

TEST_CASE("as many pairs as asked for, each of two ranks half of all apart, evenly spread") {
  for (const int ranks : rank_counts)
    for (int count = 1; count <= ranks / 2; ++count) {
      CAPTURE(ranks);
      CAPTURE(count);
      const int half = ranks / 2;
      const auto found = firsts(ranks, count);
      REQUIRE(found.size() == static_cast<std::size_t>(count));
      int members = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto [first, second] = spread_pair(rank, ranks, count);
        if (first < 0) continue;
        ++members;
        CHECK(second == first + half);
        CHECK((rank == first || rank == second));
      }
      CHECK(members == 2 * count);
      for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(found[i] == static_cast<int>(i) * half / count);
    }
}

TEST_CASE("pairs play ping-pong, or stream with one answer, and nobody else says anything") {
  for (const int ranks : rank_counts)
    for (int count = 1; count <= ranks / 2; ++count) {
      CAPTURE(ranks);
      CAPTURE(count);
      Traffic pingpong;
      record<PairsLatency>(pingpong, ranks, 100, pairs(count), 3);
      Traffic stream;
      record<PairsBandwidth>(stream, ranks, 100, pairs(count), 3);
      CHECK(pingpong.verified);
      CHECK(stream.verified);
      CHECK(pingpong.messages() == 2 * 3 * count);
      CHECK(stream.messages() == 3 * count);
      CHECK(stream.moved_bytes == static_cast<std::uint64_t>(count) * 100);
      for (const int first : firsts(ranks, count)) {
        const int second = first + ranks / 2;
        CHECK(pingpong.data[{first, second}] == 3);
        CHECK(pingpong.data[{second, first}] == 3);
        CHECK(stream.data[{first, second}] == 3);
        CHECK(stream.empty[{second, first}] == 1);
      }
    }
}

TEST_CASE("distance is between the two ranks that are named, and all others wait") {
  for (const int ranks : {2, 3, 5, 8})
    for (int first = 0; first < ranks - 1; ++first)
      for (int second = first + 1; second < ranks; ++second) {
        Traffic traffic;
        record<Distance>(traffic, ranks, 100, between(first, second), 2);
        CHECK(traffic.verified);
        CHECK(traffic.messages() == 4);
        CHECK(traffic.data[{first, second}] == 2);
        CHECK(traffic.data[{second, first}] == 2);
      }
}

/// A pattern that exists on some transports only is a template's matter.
template <class T>
void end_ready_ping_pongs() {
  if constexpr (ReadySend<T> && NonBlocking<T>) {
    std::atomic<int> ended = 0;
    T::launch(0, nullptr, 2, Options{}, [&](T& t) {
      if (t.rank() == 1) PingPongRsend<T>(t, Case{64});
      t.barrier();
      ++ended;
    });
    CHECK(ended == 2);
    T::launch(0, nullptr, 2, Options{}, [&](T& t) {
      PingPongRsend<T> pattern(t, Case{64});
      CHECK(pattern.verify());
      pattern.prepare();
      pattern.run(3);
    });
  }
}

TEST_CASE("a ready ping-pong that not every rank could make ends without the others") {
  end_ready_ping_pongs<ProbeTransport>();
}

TEST_CASE("a wrong byte in any pair is found") {
  for (int count = 1; count <= 3; ++count) {
    Traffic traffic;
    record<PairsLatency>(traffic, 7, 100, pairs(count), 1, true);
    CHECK(!traffic.verified);
    Traffic stream;
    record<PairsBandwidth>(stream, 7, 100, pairs(count), 1, true);
    CHECK(!stream.verified);
  }
}

TEST_CASE("pairs and ranks that there are not are refused") {
  ProbeTransport::launch(0, nullptr, 5, Options{}, [](ProbeTransport& t) {
    using P = PairsLatency<ProbeTransport>;
    using D = Distance<ProbeTransport>;
    for (const auto* axes : {"pairs=0", "pairs=3", "pairs=x", "other=1"})
      CHECK_THROWS_AS(P(t, case_of(1, axes)), InputError);
    for (const auto* axes : {"first=0", "first=1,second=1", "first=0,second=5", "first=4,second=5"})
      CHECK_THROWS_AS(D(t, case_of(1, axes)), InputError);
  });
}

TEST_CASE("on a machine where nothing is shared, k pairs take the time of one" *
          doctest::skip(!exact_times)) {
  for (const int ranks : {2, 3, 4, 8, 17})
    for (int count = 1; count <= ranks / 2; ++count)
      for (const std::size_t n : {0UL, 1000UL, 100000UL}) {
        CAPTURE(ranks);
        CAPTURE(count);
        CAPTURE(n);
        CHECK(time_of("pairs-latency", ranks, n, pairs(count)) ==
              doctest::Approx(one_way_s(n)).epsilon(1e-9));
        const double gap_s = g + static_cast<double>(n) * G;
        CHECK(time_of("pairs-bandwidth", ranks, n, pairs(count)) ==
              doctest::Approx(gap_s).epsilon(1e-9));
      }
}

TEST_CASE("every distance takes the same time there, also where rank 0 is idle" *
          doctest::skip(!exact_times)) {
  for (int first = 0; first < 4; ++first)
    for (int second = first + 1; second < 5; ++second)
      for (const auto* clock : {"", "clock_resolution_s=1e-8"}) {
        CAPTURE(first);
        CAPTURE(second);
        const double time_s = time_of("distance", 5, 1000, between(first, second), clock);
        CHECK(time_s == doctest::Approx(one_way_s(1000)).epsilon(*clock == 0 ? 1e-9 : 1e-3));
      }
}

}  // namespace nhalf::test_pairs
