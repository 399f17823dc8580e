#include "patterns/bases/traffic/traffic_schedule.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

using namespace nhalf;
using Schedules = std::vector<std::vector<ScheduledMessage>>;

namespace {

const std::vector<int> three{0, 1, 3};

void check_same(const std::vector<ScheduledMessage>& found,
                const std::vector<ScheduledMessage>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].to == wanted[i].to);
    CHECK(found[i].size_bytes == wanted[i].size_bytes);
    CHECK(found[i].time_share == wanted[i].time_share);
  }
}

/// Everybody sends to the others, or in a ring.
Schedules schedules(int ranks, const TrafficLaws& laws, bool ring) {
  Schedules all;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<int> to{(rank + 1) % ranks};
    for (int other = 0; other < ranks && !ring; ++other)
      if (other != rank) to.push_back(other);
    all.push_back(schedule(laws, rank, to));
  }
  return all;
}

}  // namespace

TEST_CASE("every platform draws the same: computed apart from this program, in whole numbers") {
  check_same(schedule({.messages = 6, .size_bytes = 10000}, 2, three),
             {{1, 3518, 0.3381148627289543},
              {0, 8186, 0.44449181639678237},
              {3, 7305, 0.821979400991875},
              {0, 2955, 0.904609303364135},
              {0, 7941, 0.906239194847424},
              {0, 30095, 0.9505919815960052}});
  check_same(
      schedule({.messages = 6, .size_bytes = 10000, .size = Law::uniform, .gap = Law::uniform}, 2,
               three),
      {{1, 2465, 0.14472062761087648},
       {3, 9285, 0.1548016128792239},
       {0, 20989, 0.3509442227513556},
       {1, 21941, 0.4804245512461444},
       {0, 5112, 0.5866303459924761},
       {0, 208, 0.8033352386669746}});
}

TEST_CASE("every rank sends the same number of bytes") {
  for (const auto law : {Law::exponential, Law::uniform, Law::fixed})
    for (const int rank : {0, 1, 30}) {
      std::size_t total = 0;
      for (const auto& message :
           schedule({.messages = 256, .size_bytes = 10001, .size = law, .seed = 7}, rank, three))
        total += message.size_bytes;
      CHECK(total == 256 * 10001);
    }
}

TEST_CASE("another seed and another rank have another schedule, the same ones the same") {
  const TrafficLaws laws{.messages = 5, .size_bytes = 1000};
  const auto first = schedule(laws, 0, three);
  check_same(schedule(laws, 0, three), first);
  CHECK(schedule(laws, 1, three).front().time_share != first.front().time_share);
  auto other = laws;
  other.seed = 2;
  CHECK(schedule(other, 0, three).front().time_share != first.front().time_share);
}

TEST_CASE("destinations do not change sizes and arrivals") {
  const TrafficLaws laws{.messages = 20, .size_bytes = 1000};
  const auto many = schedule(laws, 4, three);
  const auto one = schedule(laws, 4, std::vector<int>{7});
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(one[i].to == 7);
    CHECK(one[i].size_bytes == many[i].size_bytes);
    CHECK(one[i].time_share == many[i].time_share);
  }
}

TEST_CASE("fixed laws: equal sizes, equal gaps before each message and after the last") {
  const auto sent =
      schedule({.messages = 9, .size_bytes = 77, .size = Law::fixed, .gap = Law::fixed}, 0, three);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    CHECK(sent[i].size_bytes == 77);
    CHECK(sent[i].time_share == doctest::Approx(static_cast<double>(i + 1) / 10).epsilon(1e-14));
  }
}

TEST_CASE("nobody to send to, no messages, no bytes, very many bytes") {
  CHECK(schedule({.messages = 9, .size_bytes = 1}, 0, {}).empty());
  CHECK(schedule({.messages = 0, .size_bytes = 1}, 0, three).empty());
  for (const auto& message : schedule({.messages = 9, .size_bytes = 0}, 0, three))
    CHECK(message.size_bytes == 0);
  constexpr std::size_t large = std::size_t{1} << 31;
  for (const auto& message :
       schedule({.messages = 99, .size_bytes = large, .size = Law::uniform}, 0, three))
    CHECK(message.size_bytes <= 3 * large);
}

TEST_CASE("laws have their means and deviations, and the exponential one its tail") {
  constexpr int count = 200000;
  struct Expected {
    Law law;
    double deviation;
    double above_twice;
  };
  // Above twice the mean lies exp(-2) of the exponential law, nothing of the others.
  for (const auto& [law, deviation, above] :
       {Expected{Law::exponential, 1, std::exp(-2.0)}, Expected{Law::uniform, 1 / std::sqrt(3), 0},
        Expected{Law::fixed, 0, 0}}) {
    Draw draw(3, 0);
    double sum = 0;
    double squares = 0;
    int large = 0;
    for (int i = 0; i < count; ++i) {
      const double x = static_cast<double>(draw.next(law)) / static_cast<double>(Draw::mean);
      sum += x;
      squares += (x - 1) * (x - 1);
      large += x > 2 ? 1 : 0;
    }
    CHECK(sum / count == doctest::Approx(1).epsilon(0.01));
    CHECK(std::sqrt(squares / count) == doctest::Approx(deviation).epsilon(0.01));
    CHECK(static_cast<double>(large) / count == doctest::Approx(above).epsilon(0.02));
  }
}

TEST_CASE("each destination is drawn about as often") {
  std::map<int, int> times;
  for (const auto& message : schedule({.messages = 30000, .size_bytes = 1}, 0, three))
    ++times[message.to];
  CHECK(times.size() == 3);
  // 10000 expected, deviation 82: five deviations.
  for (const auto& [to, found] : times) CHECK(std::abs(found - 10000) < 410);
}

TEST_CASE(
    "each message is sent once and received once, in order, and no more than a window is out") {
  constexpr std::size_t window = 4;
  for (const int ranks : {2, 3, 5, 17})
    for (const std::size_t count : {0UL, 1UL, 3UL, 4UL, 5UL, 40UL})
      for (const bool ring : {false, true}) {
        const auto all = schedules(ranks, {.messages = count, .size_bytes = 100}, ring);
        std::vector<std::vector<ScheduledStep>> steps;
        for (int rank = 0; rank < ranks; ++rank) steps.push_back(steps_of(rank, all, window));
        // Runs whoever can go on, as transports do: sends never wait here, so that the number of
        // messages out shows whether they would.
        std::vector<std::size_t> next(steps.size());
        std::map<std::pair<int, int>, std::vector<ScheduledStep>> out;
        std::size_t done = 0;
        for (bool moved = true; moved;) {
          moved = false;
          for (int rank = 0; rank < ranks; ++rank) {
            auto& at = next[static_cast<std::size_t>(rank)];
            const auto& own = steps[static_cast<std::size_t>(rank)];
            if (at == own.size()) continue;
            const auto& step = own[at];
            auto& channel = step.sends ? out[{rank, step.peer}] : out[{step.peer, rank}];
            if (!step.sends && channel.empty()) continue;
            if (step.sends) {
              channel.push_back(step);
            } else {
              CHECK(channel.front().seed == step.seed);
              CHECK(channel.front().size_bytes == step.size_bytes);
              channel.erase(channel.begin());
              ++done;
            }
            ++at;
            moved = true;
          }
        }
        CHECK(done == count * static_cast<std::size_t>(ranks));
      }
}

TEST_CASE("at any time of the schedule, a rank is owed no more than a window by each other one") {
  constexpr std::size_t window = 4;
  const auto all = schedules(5, {.messages = 60, .size_bytes = 100}, true);
  for (int rank = 0; rank < 5; ++rank) {
    const int from = (rank + 4) % 5;
    std::size_t sent = 0;
    std::size_t received = 0;
    auto receives = steps_of(rank, all, window);
    std::erase_if(receives, [](const auto& step) { return step.sends; });
    REQUIRE(receives.size() == 60);
    for (const auto& message : all[static_cast<std::size_t>(from)]) {
      while (received < receives.size() && receives[received].time_share <= message.time_share)
        ++received;
      ++sent;
      CHECK(sent - received <= window);
      CHECK(received + window >= sent);
    }
    CHECK(receives.back().time_share == 1);
  }
}
