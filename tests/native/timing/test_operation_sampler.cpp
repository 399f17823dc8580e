// Operations whose time has a closed form on the simulated machine.
#include "timing/operation_sampler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "contract/options.hpp"
#include "timed_operations.hpp"
#include "timing/clock.hpp"
#include "timing/global_clock.hpp"
#include "timing/statistics.hpp"
#include "transports/model.hpp"
#include "transports/threads.hpp"

using namespace nhalf;
using namespace nhalf::timed_operations;

TEST_CASE("an operation takes from the first start to the last end, exactly") {
  for (const int ranks : {2, 3, 4, 8, 17}) {
    CAPTURE(ranks);
    const auto ring = measured<Ring>({.ranks = ranks});
    CHECK(ring.verified);
    CHECK(ring.batch_rounds == 1);
    CHECK(ring.samples_s.size() == Effort{}.samples_min);
    for (const double sample_s : ring.samples_s) CHECK(std::abs(sample_s - ranks * way_s) <= 1e-12);
    CHECK(value_of(ring, "clock_uncertainty_s") == 0);
    CHECK(std::abs(value_of(ring, "skew_s")) <= 1e-12);
    CHECK(value_of(ring, "late_share") == 0);
    CHECK(value_of(ring, "own") == 42);
    CHECK(ring.advice.empty());
    // Rank r has the token after r ways and passes it on.
    REQUIRE(ring.rank_s.size() == static_cast<std::size_t>(ranks));
    CHECK(std::abs(ring.rank_s[0] - ranks * way_s) <= 1e-12);
    for (int rank = 1; rank < ranks; ++rank)
      CHECK(std::abs(ring.rank_s[static_cast<std::size_t>(rank)] - (rank * way_s + o_s)) <= 1e-12);
    const auto flat = measured<Flat>({.ranks = ranks});
    CHECK(std::abs(time_of(flat) - ((ranks - 2) * g + way_s)) <= 1e-12);
  }
}

TEST_CASE("where ranks come late, an operation is timed from the last start on") {
  constexpr double spread_s = 50e-6;
  const int ranks = 4;
  const auto axes = [](const std::string& arrival) {
    return "arrival=" + arrival + ",spread_us=50";
  };
  // The root has sent everything by then: what is left is the last rank's own overhead.
  const auto late = measured<Flat>({.ranks = ranks, .axes = axes("one-late")});
  CHECK(std::abs(time_of(late) - o_r) <= 1e-12);
  CHECK(std::abs(value_of(late, "skew_s") - spread_s) <= 1e-12);
  CHECK(std::abs(value_of(late, "span_s") - spread_s - o_r) <= 1e-12);
  CHECK(std::abs(late.rank_s[0] - (2 * g + o_s)) <= 1e-12);
  CHECK(std::abs(late.rank_s[3] - o_r) <= 1e-12);
  // The token waits for nobody once the last rank has come: it is at rank 2 or has left it.
  const auto ramp = measured<Ring>({.ranks = ranks, .axes = axes("ramp")});
  CHECK(std::abs(value_of(ramp, "skew_s") - spread_s) <= 1e-12);
  CHECK(time_of(ramp) < ranks * way_s);
  const auto random = measured<Ring>({.ranks = ranks, .axes = axes("random")});
  CHECK(value_of(random, "skew_s") > 0);
  CHECK(value_of(random, "skew_s") < spread_s);
  CHECK(std::ranges::max(random.samples_s) > std::ranges::min(random.samples_s));
  // A table says it rank by rank, and a second row is for every other operation.
  const auto table = measured<Flat>({.ranks = ranks, .axes = "arrival=0-0-0-50"});
  CHECK(table.samples_s == late.samples_s);
  const auto rows = measured<Flat>({.ranks = ranks, .axes = "arrival=0-0-0-50_0-0-0-0"});
  CHECK(std::abs(std::ranges::min(rows.samples_s) - o_r) <= 1e-12);
  CHECK(std::abs(std::ranges::max(rows.samples_s) - (2 * g + way_s)) <= 1e-12);
  for (const auto* wrong :
       {"arrival=0-50", "arrival=0-0-0-0_0-1", "arrival=0-0-0-0_", "arrival=0-0--0-0",
        "arrival=0-0-0-2000000", "arrival=0-0-0-50,spread_us=5", "arrival=early",
        "arrival=ramp,spread_us=-1", "spread_us=5", "arrival=ramp,start=barrier"})
    CHECK_THROWS_AS(measured<Ring>({.ranks = ranks, .axes = wrong}), InputError);
}

TEST_CASE("wrong clocks move a time by no more than is stated") {
  for (int seed = 0; seed < 60; ++seed) {
    const int ranks = 2 + seed % 16;
    CAPTURE(seed);
    const auto options = wrong_options + "seed=" + std::to_string(seed);
    const auto ring = measured<Ring>({.ranks = ranks, .options = options});
    // Of a rank 1e-4 too fast, the time is 1e-4 too long.
    const double drift = 2e-4;
    const double stated_s = value_of(ring, "clock_uncertainty_s");
    CHECK(stated_s > 1e-6);
    for (const double sample_s : ring.samples_s)
      CHECK(std::abs(sample_s - ranks * way_s) <= stated_s + drift * ranks * way_s);
    const auto flat = measured<Flat>({.ranks = ranks, .options = options});
    const double flat_s = (ranks - 2) * g + way_s;
    CHECK(std::abs(time_of(flat) - flat_s) <=
          value_of(flat, "clock_uncertainty_s") + drift * flat_s);
  }
}

TEST_CASE("after a barrier each rank times itself; the slowest counts; the truth is beside it") {
  const auto found = measured<Flat>({.ranks = 5, .axes = "start=barrier"});
  const double truth_s = 3 * g + way_s;
  for (const double sample_s : found.samples_s) CHECK(std::abs(sample_s - truth_s) <= 1e-12);
  CHECK(std::abs(value_of(found, "true_s") - truth_s) <= 1e-12);
  CHECK(std::abs(found.rank_s[0] - (3 * g + o_s)) <= 1e-12);
  CHECK(std::abs(found.rank_s[1] - way_s) <= 1e-12);
  const auto wronged =
      measured<Flat>({.ranks = 5, .options = wrong_options, .axes = "start=barrier"});
  CHECK(std::abs(time_of(wronged) - truth_s) <= 1e-4 * truth_s);
  const double unsure_s = value_of(wronged, "clock_uncertainty_s");
  CHECK(std::abs(value_of(wronged, "true_s") - truth_s) <= unsure_s + 2e-4 * truth_s);
}

TEST_CASE("a chain of rotating roots takes p operations, each begun where the last one ended") {
  for (const int ranks : {2, 3, 5, 8}) {
    CAPTURE(ranks);
    const double truth_s = (ranks - 2) * g + way_s;
    const Asked asked{.ranks = ranks, .axes = "start=rotating"};
    const auto found = measured<Flat>(asked, rooted);
    CHECK(time_of(found) == doctest::Approx(truth_s).epsilon(1e-9));
    CHECK(found.rank_s.empty());
    const Asked wronged{.ranks = ranks, .options = wrong_options, .axes = "start=rotating"};
    const auto unsure = measured<Flat>(wronged, rooted);
    const double unsure_s = value_of(unsure, "clock_uncertainty_s");
    CHECK(std::abs(time_of(unsure) - truth_s) <= unsure_s + 2e-4 * truth_s);
  }
}

TEST_CASE("an operation is timed with the root that is asked for") {
  for (const int root : {0, 1, 4}) {
    CAPTURE(root);
    const auto found = measured<Flat>({.ranks = 5, .axes = "root=" + std::to_string(root)}, rooted);
    CHECK(time_of(found) == doctest::Approx(3 * g + way_s).epsilon(1e-9));
    CHECK(found.rank_s[static_cast<std::size_t>(root)] == doctest::Approx(3 * g + o_s));
    CHECK(found.rank_s[static_cast<std::size_t>((root + 1) % 5)] == doctest::Approx(way_s));
  }
}

TEST_CASE("conditions that cannot be met are refused") {
  const auto of = [](const PatternInfo& info, const std::string& axes) {
    return Conditions::of(info, {.axes = Options::parse(axes, ',')}, 4);
  };
  CHECK_THROWS_AS(of(operation, "start=rotating"), InputError);
  CHECK_THROWS_AS(of(operation, "root=1"), InputError);
  CHECK(of(operation, "root=0").root == 0);
  CHECK(of(rooted, "start=rotating").start == Conditions::Start::rotating);
  for (const auto* axes :
       {"start=rotating,buffers=cold", "start=rotating,call=first", "start=now", "buffers=lukewarm",
        "call=last", "root=4", "root=-1", "start=rotating,root=1"})
    CHECK_THROWS_AS(of(rooted, axes), InputError);
  CHECK(measured<Ring>({.axes = "start=sync,buffers=cold,call=steady"}).samples_s.size() > 0);
}

TEST_CASE("a transport that prepares nothing has no first calls") {
  std::atomic<int> refused = 0;
  // Not on fibers: the address sanitizer cannot follow exceptions there.
  ThreadsTransport::launch(0, nullptr, 2, Options{}, [&](ThreadsTransport& t) {
    Ring<ThreadsTransport> ring(t);
    GlobalClock clock(t);
    OperationSampler sampler(t, calibrate(t), Effort{}, clock);
    try {
      sampler.measure(ring, operation, {.axes = Options::parse("call=first", ',')});
    } catch (const InputError&) {
      ++refused;
    }
  });
  CHECK(refused == 2);
}

TEST_CASE("a start for which a rank was late does not count, but is counted") {
  const auto found = measured<Ring>({.delay_s = 1e-4});
  CHECK(std::abs(time_of(found) - 4 * way_s) <= 1e-12);
  CHECK(value_of(found, "late_share") == 0);
  // Later than the slack may ever grow: all starts are late, and still the point ends.
  const auto hopeless = measured<Ring>({.effort = {.slice_s = 10}, .delay_s = 1});
  CHECK(hopeless.stop == Stop::time);
  CHECK(value_of(hopeless, "late_share") == 1);
  CHECK(hopeless.advice == std::vector<std::string>{"late-starts"});
  CHECK(value_of(hopeless, "skew_s") > 0.5);
  REQUIRE(!hopeless.samples_s.empty());
  CHECK(hopeless.samples_s[0] > 0.5);
  // From the first start on, not from its own.
  CHECK(hopeless.rank_s.back() > 0.5);
  CHECK(hopeless.samples_s.size() >= 5);
}

TEST_CASE("late starts are left out of the samples") {
  // Clocks that are hundreds of microseconds unsure, and a slack that begins with one.
  const Effort effort{.slice_s = 1e9, .precision = 0, .samples_min = 300, .samples_max = 300};
  const auto found =
      measured<Ring>({.options = wrong_options + "jitter_s=2e-5,seed=3", .effort = effort});
  const double late_share = value_of(found, "late_share");
  CHECK(late_share > 0);
  CHECK(late_share < 0.5);
  CHECK(found.samples_s.size() == 300);
  CHECK(value_of(found, "skew_s") < 1e-12);
}

TEST_CASE("a point ends when its slice is spent, or four times as long without being timed") {
  const Effort exact{.slice_s = 20 * way_s, .precision = 0, .samples_min = 5, .samples_max = 1000};
  const auto noisy = measured<Ring>({.options = "noise=0.1", .effort = exact});
  CHECK(noisy.stop == Stop::time);
  CHECK(noisy.samples_s.size() >= 5);
  CHECK(noisy.samples_s.size() <= 10);
  // Announcements take a millisecond each, so after the few samples that there must be it is over.
  const Effort few{.slice_s = 20 * way_s, .precision = 0, .samples_min = 100, .samples_max = 1000};
  const auto slow = measured<Ring>({.options = "noise=0.1", .effort = few, .delay_s = 1e-3});
  CHECK(slow.stop == Stop::time);
  CHECK(slow.samples_s.size() == 5);
}

TEST_CASE("the reading of the clock that lies in a time is subtracted once") {
  for (const auto* axes : {"start=sync", "start=barrier", "start=rotating"}) {
    const auto found = measured<Flat>({.axes = axes, .overhead_s = 1e-6}, rooted);
    const double operations = std::string(axes) == "start=rotating" ? 4 : 1;
    CHECK(time_of(found) == doctest::Approx(2 * g + way_s - 1e-6 / operations).epsilon(1e-9));
  }
  CHECK(time_of(measured<Ring>({.overhead_s = 1})) == 0);
}

TEST_CASE("times that clocks or starts leave in doubt carry an advice") {
  const std::vector<std::string> unsure{"clocks-unsure"};
  // Two ranks' clocks agree within half of a round trip, which is what the flat broadcast takes.
  CHECK(measured<Flat>({.ranks = 2, .options = wrong_options}).advice == unsure);
  CHECK(measured<Flat>({.ranks = 2, .options = wrong_options, .axes = "start=barrier"})
            .advice.empty());
  CHECK(measured<Ring>({.options = "clock_resolution_s=1e-5"}).advice ==
        std::vector<std::string>{"timer-coarse", "clocks-unsure"});
}

TEST_CASE("in long points the clocks are measured again, so that they stay as good as they were") {
  // Nearly a second, in which unknown drifts would lead half a millisecond away.
  const Effort effort{.slice_s = 1e9, .precision = 0, .samples_min = 20000, .samples_max = 20000};
  const auto found = measured<Ring>({.options = wrong_options + "noise=0.01", .effort = effort});
  const double reached_s = 2 * way_s;
  CHECK(value_of(found, "clock_uncertainty_s") > reached_s / 2);
  CHECK(value_of(found, "clock_uncertainty_s") < 5 * reached_s);
}

TEST_CASE("wrong data on one rank: nothing is timed") {
  class Liar : public Ring<ModelTransport> {
   public:
    explicit Liar(ModelTransport& t) : Ring(t), rank_(t.rank()) {}
    bool verify() override { return rank_ != 1; }

   private:
    int rank_;
  };
  ModelTransport::launch(0, nullptr, 3, Options{}, [&](ModelTransport& t) {
    Liar liar(t);
    GlobalClock clock(t);
    OperationSampler sampler(t, calibrate(t), Effort{}, clock);
    const auto found = sampler.measure(liar, operation, {});
    CHECK(!found.verified);
    CHECK(found.samples_s.empty());
  });
}

TEST_CASE("one rank alone, and operations that take no time, end") {
  const auto alone = measured<Flat>({.ranks = 1}, rooted);
  CHECK(alone.stop != Stop::none);
  CHECK(time_of(alone) == 0);
  CHECK(measured<Flat>({.ranks = 1, .axes = "start=rotating"}, rooted).stop != Stop::none);
  CHECK(measured<Flat>({.ranks = 1, .axes = "start=barrier"}).stop != Stop::none);
}
