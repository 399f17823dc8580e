// Batches and samples on a clock that the pattern itself moves.
#include "timing/sampler.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nhalf::test_sampler {

namespace {

/// Rank 0 of two; the other one takes `other_factor` times as long for everything. Reading the
/// clock takes `reading_s`, half of it before the time is taken, and a barrier `barrier_s`.
struct Alone {
  static constexpr TransportInfo info{"alone", "", {}};

  static constexpr double began_s = 2;
  double clock_s = began_s;
  double reading_s = 0;
  double barrier_s = 0;
  bool met = false;
  double other_factor = 1;

  int rank() const { return 0; }
  int size() const { return 2; }
  double now_s() {
    clock_s += reading_s;
    return clock_s - reading_s / 2;
  }
  void idle_until(double time_s) { clock_s = std::max(clock_s, time_s); }
  void send(int, ConstBytes) {}
  void recv(int, Bytes) {}
  void barrier() {
    clock_s += barrier_s;
    met = true;
  }
  void broadcast(Bytes) {}
  bool all(bool mine) { return mine; }
  std::vector<std::string> gather(const std::string& text) { return {text, text}; }
  std::vector<double> collect(std::span<const double> mine) {
    std::vector<double> both(mine.begin(), mine.end());
    for (const double own : mine) both.push_back(other_factor * own);
    return both;
  }
  std::string library() const { return ""; }
};

/// A round takes `round_s`, and a share of that in batches after the first `slow_runs`. The first
/// round after a barrier takes `skew_s` more, and batch number `held_up` so much more. Each batch
/// ends with an acknowledgement of `reply_s`, and has one after every `window` rounds.
struct Steady : Pattern {
  explicit Steady(Alone& alone) : transport(alone) {}
  void run(std::uint64_t rounds) override {
    const bool slow = runs.size() < slow_runs;
    runs.push_back(rounds);
    const auto replies = static_cast<double>((rounds + window - 1) / window);
    transport.clock_s += static_cast<double>(rounds) * round_s * (slow ? 1 : later_share);
    transport.clock_s += replies * reply_s;
    if (runs.size() == held_up) transport.clock_s += hiccup_s;
    if (std::exchange(transport.met, false)) transport.clock_s += skew_s;
  }
  void settle() override {
    ++settled;
    Pattern::settle();
  }
  void prepare() override {
    ++prepared;
    transport.clock_s += preparing_s;
  }
  bool verify() override { return right && runs.size() != wrong_run; }
  std::optional<double> timed_s() const override { return inner_s; }
  std::span<const double> operations_s() const override { return singles_s; }
  std::vector<Value> values() override { return {{"what", 7}}; }

  Alone& transport;
  std::vector<std::uint64_t> runs;
  double round_s = 0x1p-20;
  double inner_s = 0;
  std::vector<double> singles_s;
  double skew_s = 0;
  double reply_s = 0;
  std::uint64_t window = std::numeric_limits<std::uint32_t>::max();
  double hiccup_s = 0;
  std::size_t held_up = 0;
  int settled = 0;
  int prepared = 0;
  double preparing_s = 0;
  std::size_t wrong_run = std::numeric_limits<std::size_t>::max();
  double later_share = 1;
  std::size_t slow_runs = 0;
  bool right = true;
};

/// 1000 of it are 125 rounds.
constexpr ClockQuality clock{.resolution_s = 0x1p-23, .overhead_s = 0x1p-25};
constexpr Effort quick{.slice_s = 1e-6, .samples_min = 5, .samples_max = 50};

struct Tried {
  Alone transport;
  Steady pattern{transport};
  PatternInfo info{.name = "steady", .what = ""};

  Measurement measure(const Effort& effort = quick, const ClockQuality& quality = clock) {
    transport.reading_s = quality.overhead_s;
    return Sampler(transport, quality, effort).measure(pattern, info);
  }
};

}  // namespace

TEST_CASE("wrong data is not timed") {
  Tried tried;
  tried.pattern.right = false;
  const auto measured = tried.measure();
  CHECK(!measured.verified);
  CHECK(measured.samples_s.empty());
  CHECK(measured.stop == Stop::none);
  CHECK(tried.pattern.runs.empty());
}

TEST_CASE("a batch grows eightfold at most, until it is long enough for the clock") {
  Tried tried;
  const auto measured = tried.measure();
  CHECK(measured.batch_rounds == 125);
  const std::vector<std::uint64_t> growing{1, 1, 8, 1, 64, 1, 125, 1, 125};
  CHECK(std::vector(tried.pattern.runs.begin(), tried.pattern.runs.begin() + 9) == growing);
}

TEST_CASE("rounds that take no time are not multiplied for ever") {
  Tried tried;
  tried.pattern.round_s = 0;
  CHECK(tried.measure().batch_rounds == std::uint64_t{1} << 40U);
}

TEST_CASE("a batch that is held up does not look long enough") {
  for (std::size_t held_up = 1; held_up < 10; ++held_up) {
    CAPTURE(held_up);
    Tried tried;
    tried.pattern.held_up = held_up;
    tried.pattern.hiccup_s = 0x1p-10;
    const auto measured = tried.measure();
    CHECK(measured.batch_rounds == 125);
    CHECK(measured.samples_s.front() == 0x1p-20);
  }
}

TEST_CASE("no skew of the barrier is timed, however many rounds a batch has") {
  for (const double round_s : {0x1p-12, 0x1p-13, 0x1.cp-14, 0x1p-14, 0x1p-18}) {
    CAPTURE(round_s);
    Tried tried;
    tried.pattern.round_s = round_s;
    tried.pattern.skew_s = tried.transport.barrier_s = 0x1p-17;
    for (const double sample_s : tried.measure().samples_s) CHECK(sample_s == round_s);
  }
}

TEST_CASE("a round of a thousand barriers needs no other before it, nor a second look") {
  for (const auto& [round_s, settled] : {std::pair{0x1p-6, 3}, {0x1p-4, 0}}) {
    Tried tried;
    tried.pattern.round_s = round_s;
    tried.transport.barrier_s = 0x1p-15;
    const auto measured = tried.measure();
    CHECK(measured.batch_rounds == 1);
    CHECK(tried.pattern.settled == settled);
    CHECK(measured.samples_s.size() == 1);
    CHECK(tried.pattern.runs.size() == (settled > 0 ? 7 : 2));
  }
}

TEST_CASE("a batch of more than one round begins with one that is not timed") {
  Tried tried;
  tried.info.rounds_min = 2;
  CHECK(tried.measure().batch_rounds == 125);
  CHECK(tried.pattern.runs[0] == 1);
  CHECK(tried.pattern.runs[1] == 2);
}

TEST_CASE("an acknowledgement of batches is in no sample") {
  for (const bool acknowledged : {false, true}) {
    Tried tried;
    tried.info.rounds_min = 16;
    tried.info.acknowledged = acknowledged;
    tried.pattern.reply_s = 0x1p-18;
    const double round_s = tried.pattern.round_s;
    const double expected_s = acknowledged ? round_s : round_s + tried.pattern.reply_s / 16;
    for (const double sample_s : tried.measure(quick, {}).samples_s) CHECK(sample_s == expected_s);
  }
}

TEST_CASE("of several acknowledgements in a batch none is in a sample, the last of a part either") {
  for (const std::uint64_t rounds : {16UL, 17UL, 32UL, 100UL}) {
    CAPTURE(rounds);
    Tried tried;
    tried.info.rounds_min = rounds;
    tried.info.acknowledged = true;
    tried.info.window = tried.pattern.window = 16;
    tried.pattern.reply_s = 0x1p-18;
    for (const double sample_s : tried.measure(quick, {}).samples_s)
      CHECK(sample_s == tried.pattern.round_s);
  }
}

TEST_CASE("a batch that is nearly long enough stays as it is") {
  for (const auto& [least, found] : {std::pair{101UL, 101UL}, {100UL, 125UL}, {126UL, 126UL}}) {
    Tried tried;
    tried.info.rounds_min = least;
    CHECK(tried.measure().batch_rounds == found);
  }
}

TEST_CASE("as many samples as may be taken fill the slice") {
  Tried tried;
  const Effort effort{.slice_s = 0x1p-10 * 50, .samples_min = 5, .samples_max = 50};
  CHECK(tried.measure(effort).batch_rounds == 1024);
  Tried virtual_clock;
  CHECK(virtual_clock.measure(effort, {}).batch_rounds == 1);
}

TEST_CASE("a sample is the time of one operation; equal ones are soon enough") {
  Tried tried;
  tried.info.messages_per_round = 2;
  const auto measured = tried.measure();
  CHECK(measured.samples_s == std::vector<double>(measured.samples_s.size(), 0x1p-21));
  CHECK(measured.rank_s.empty());
  CHECK(measured.values.size() == 1);
  CHECK(measured.advice.empty());
  CHECK(measured.elapsed_s == tried.transport.clock_s - Alone::began_s - tried.transport.reading_s);
}

TEST_CASE("the time that a sample took is spent, and ends a measurement") {
  Tried tried;
  const Effort effort{.slice_s = 0x1p-10, .samples_min = 96, .samples_max = 100};
  const auto measured = tried.measure(effort, {.resolution_s = 0x1p-30, .overhead_s = 0});
  CHECK(measured.stop == Stop::time);
  const auto batch_s = static_cast<double>(measured.batch_rounds) * 0x1p-20;
  const auto spent_s = static_cast<double>(measured.samples_s.size()) * batch_s;
  CHECK(spent_s >= effort.slice_s);
  CHECK(spent_s < effort.slice_s + batch_s);
}

TEST_CASE("the slowest rank counts where every rank has a time") {
  Tried tried;
  tried.info.timing = Timing::slowest_rank;
  tried.transport.other_factor = 4;
  const auto measured = tried.measure();
  CHECK(measured.batch_rounds == 32);
  CHECK(measured.samples_s.front() == 0x1p-18);
  CHECK(measured.rank_s == std::vector{0x1p-20, 0x1p-18});
}

TEST_CASE("a slower rank spends the time of all") {
  Tried tried;
  tried.info.timing = Timing::slowest_rank;
  tried.info.messages_per_round = 2;
  tried.transport.other_factor = 64;
  const Effort effort{.slice_s = 0x1p-12, .samples_min = 40, .samples_max = 50};
  const auto measured = tried.measure(effort, {.resolution_s = 0x1p-60, .overhead_s = 0});
  CHECK(measured.stop == Stop::time);
  CHECK(measured.samples_s.size() == 4);
}

TEST_CASE("what a pattern times itself is taken by the operation, from the slowest rank") {
  Tried tried;
  tried.info.timing = Timing::inner;
  tried.transport.other_factor = 2;
  tried.pattern.inner_s = 125;
  const auto measured = tried.measure();
  CHECK(measured.samples_s.front() == 2);
  CHECK(measured.rank_s == std::vector<double>{1, 2});
}

TEST_CASE("a time below 0 is not cut off by a rank that times nothing") {
  Tried tried;
  tried.info.timing = Timing::inner;
  tried.transport.other_factor = std::numeric_limits<double>::quiet_NaN();
  tried.pattern.inner_s = -125;
  const auto measured = tried.measure();
  CHECK(measured.samples_s.front() == -1);
  CHECK(measured.rank_s == std::vector<double>{-1, 0});
}

TEST_CASE("single operations are samples of their own, the mean of the ranks that had a part") {
  constexpr double not_one = std::numeric_limits<double>::quiet_NaN();
  Tried tried;
  tried.info.timing = Timing::inner;
  tried.pattern.singles_s = {1, not_one, 3};
  tried.transport.other_factor = 3;
  const auto both = tried.measure();
  REQUIRE(both.samples_s.size() % 2 == 0);
  CHECK(both.samples_s[0] == 2);
  CHECK(both.samples_s[1] == 6);
  CHECK(both.batch_rounds == 1);
  CHECK(both.rank_s.empty());
  tried.transport.other_factor = -1;
  CHECK(tried.measure().samples_s[1] == 3);
}

TEST_CASE("batches that turn out short for the clock are worth an advice") {
  for (const auto& [share, coarse] : {std::pair{0.05, true}, {0.125, false}}) {
    Tried tried;
    tried.pattern.slow_runs = 11;
    tried.pattern.later_share = share;
    const std::vector<std::string> expected(coarse ? 1 : 0, "timer-coarse");
    CHECK(tried.measure().advice == expected);
  }
}

TEST_CASE("calls that are timed one by one may be as short as a tenth of the clock's step") {
  for (const auto& [share, coarse] : {std::pair{0.0625, true}, {0.125, false}}) {
    Tried tried;
    tried.info.timing = Timing::inner;
    tried.pattern.inner_s = 125 * share * clock.resolution_s;
    CHECK(tried.measure().advice.size() == (coarse ? 1 : 0));
  }
}

TEST_CASE("a whole run is a sample: it is prepared before and verified after, both untimed") {
  Tried tried;
  tried.info.whole_runs = true;
  tried.pattern.preparing_s = 1;
  tried.transport.other_factor = 2;
  const auto measured =
      tried.measure({.slice_s = 100, .precision = 0, .samples_min = 5, .samples_max = 5});
  CHECK(measured.verified);
  CHECK(measured.stop == Stop::samples);
  CHECK(tried.pattern.runs == std::vector<std::uint64_t>(5, 1));
  CHECK(tried.pattern.prepared == 5);
  CHECK(tried.pattern.settled == 0);
  CHECK(measured.batch_rounds == 1);
  CHECK(measured.samples_s == std::vector<double>(5, 0x1p-19));
  CHECK(measured.rank_s == std::vector<double>{0x1p-20, 0x1p-19});
  CHECK(measured.elapsed_s > 5);
}

TEST_CASE("preparing whole runs takes of their time") {
  Tried tried;
  tried.info.whole_runs = true;
  tried.pattern.preparing_s = 1;
  const auto measured =
      tried.measure({.slice_s = 2.5, .precision = 0, .samples_min = 1, .samples_max = 50});
  CHECK(measured.stop == Stop::time);
  CHECK(measured.samples_s.size() == 3);
}

TEST_CASE("the first whole run that is not verified is the last") {
  Tried tried;
  tried.info.whole_runs = true;
  tried.pattern.wrong_run = 2;
  const auto measured = tried.measure({.slice_s = 100, .samples_min = 5, .samples_max = 50});
  CHECK(!measured.verified);
  CHECK(measured.samples_s.size() == 2);
  CHECK(measured.stop == Stop::samples);
  CHECK(measured.values.size() == 1);
}

}  // namespace nhalf::test_sampler
