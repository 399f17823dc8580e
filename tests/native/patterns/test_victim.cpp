// An operation beside others that load the network.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "recording.hpp"
#include "timing/sampler.hpp"
#include "timing/statistics.hpp"

#include "patterns/traffic/victim.hpp"

namespace nhalf::test_victim {

namespace {

std::vector<std::string> loads() {
  std::vector<std::string> all{"none", "alltoall", "incast", "broadcast"};
  if (OneSided<ProbeTransport>)
    for (const auto* one_sided : {"put-incast", "get-broadcast"}) all.emplace_back(one_sided);
  return all;
}

}  // namespace

TEST_CASE("victims are evenly spread over ranks or nodes, rank 0 among them") {
  const std::vector<int> hosts{0, 0, 1, 1, 2, 2, 3, 3};
  const auto groups = [&](const std::string& axes) {
    return VictimRanks::of({.axes = Options::parse(axes, ','), .hosts = hosts}, 8);
  };
  CHECK(groups("victims=4").victims == std::vector{0, 2, 4, 6});
  CHECK(groups("victims=2").victims == std::vector{0, 4});
  CHECK(groups("victims=4").congestors == std::vector{1, 3, 5, 7});
  CHECK(groups("victims=4,nodes=apart").victims == std::vector{0, 1, 4, 5});
  CHECK(groups("victims=2,nodes=apart").victims == std::vector{0, 1});
  for (const auto* wrong : {"", "victims=1", "victims=7", "victims=4,nodes=racks"})
    CHECK_THROWS_AS(groups(wrong), InputError);
  CHECK_THROWS_AS(
      VictimRanks::of({.axes = Options::parse("victims=2,nodes=apart", ','), .hosts = {}}, 8),
      InputError);
}

TEST_CASE("data of victims and of the others is verified, and one wrong bit is found") {
  for (const int ranks : {4, 5, 9})
    for (const std::string& load : loads())
      for (const std::string of : {"allreduce", "ring"}) {
        CAPTURE(ranks);
        CAPTURE(load);
        const auto axes = "victims=2,load=" + load + ",of=" + of;
        Traffic sound;
        record<Victim>(sound, ranks, 8, axes);
        CHECK(sound.verified);
        Traffic spoilt;
        if (!exact_times) continue;
        ProbeTransport::launch(0, nullptr, ranks, Options{}, [&](ProbeTransport& transport) {
          Recording recording(std::move(transport), spoilt, true);
          Victim<Recording> pattern(recording, case_of(8, axes));
          const bool verified = recording.all(pattern.verify());
          if (recording.rank() == 0) spoilt.verified = verified;
        });
        CHECK(!spoilt.verified);
      }
}

namespace {

/// A network that sends the first message of each rank again and again.
class Repeats : public ProbeTransport {
 public:
  explicit Repeats(ProbeTransport&& good) : ProbeTransport(std::move(good)) {}

  auto isend(int peer, ConstBytes data) {
    if (first_.empty()) first_ = data;
    return ProbeTransport::isend(peer, first_);
  }

 private:
  ConstBytes first_;
};

}  // namespace

TEST_CASE("every message of a window is verified") {
  for (const int ranks : {4, 5, 9}) {
    CAPTURE(ranks);
    Traffic sound;
    record<Victim>(sound, ranks, 8, "victims=2,load=incast,of=ring-window");
    CHECK(sound.verified);
    if (exact_times) CHECK(sound.data[{0, (ranks + 1) / 2}] % 8 == 0);
    std::atomic<int> wrong = 0;
    ProbeTransport::launch(0, nullptr, ranks, Options{}, [&](ProbeTransport& transport) {
      Repeats repeating(std::move(transport));
      Victim<Repeats> pattern(repeating, case_of(8, "victims=2,of=ring-window"));
      if (!pattern.verify()) ++wrong;
    });
    CHECK(wrong == 2);
  }
}

TEST_CASE("what cannot be is refused") {
  for (const auto* wrong : {"victims=2,load=rain", "victims=2,of=scan", "victims=2,load=put-incast",
                            "victims=4,load=congestors,load_bytes=8"}) {
    std::atomic<int> refused = 0;
    std::atomic<int> made = 0;
    ProbeTransport::launch(0, nullptr, 6, Options{}, [&](ProbeTransport& transport) {
      try {
        const Victim<ProbeTransport> pattern(transport, case_of(8, wrong));
        ++made;
      } catch (const InputError&) {
        ++refused;
      }
    });
    CAPTURE(wrong);
    CHECK((refused == 6 || OneSided<ProbeTransport>));
    CHECK(refused + made == 6);
  }
}

TEST_CASE("on the simulated machine groups do not disturb each other, to the second") {
  if (!exact_times) return;
  for (const std::string& load : loads()) {
    CAPTURE(load);
    const auto with = ",load=" + load;
    // Two exchanges of recursive doubling among four victims of eight ranks; one of a ring.
    const double allreduce_s = time_of("victim", 8, 8, "of=allreduce,victims=4" + with);
    CHECK(allreduce_s == doctest::Approx(2 * one_way_s(8)).epsilon(1e-9));
    const double ring_s = time_of("victim", 8, 64, "of=ring,victims=4" + with);
    CHECK(ring_s == doctest::Approx(one_way_s(64)).epsilon(1e-9));
    // Messages begin g and the bytes of one apart. What came meanwhile is received after the last
    // has left, which itself has all of its way.
    for (const std::size_t n : {64, 65536}) {
      const double window_s = time_of("victim", 8, n, "of=ring-window,victims=4" + with);
      const double sent_s = 7 * (g + static_cast<double>(n) * G);
      CHECK(8 * window_s ==
            doctest::Approx(sent_s + std::max(o_s + 8 * o_r, one_way_s(n))).epsilon(1e-9));
    }
  }
}

namespace {

/// A network on which victims' messages take longer while the others are at work: the receiver's
/// clock goes on by `delay_s` for each.
class Shared : public ProbeTransport {
 public:
  Shared(ProbeTransport&& good, std::atomic<int>& at_work, double delay_s)
      : ProbeTransport(std::move(good)), at_work_(at_work), delay_s_(delay_s) {}

  void exchange(int to, ConstBytes out, int from, Bytes in) {
    const bool is_congestor = rank() % 2 == 1;
    if (is_congestor) at_work_ = 1;
    ProbeTransport::exchange(to, out, from, in);
    if (!is_congestor && at_work_ > 0) nhalf::idle_until(*this, now_s() + delay_s_);
  }

 private:
  std::atomic<int>& at_work_;
  double delay_s_;
};

}  // namespace

TEST_CASE("operations beside others are timed while these are at work") {
  if (!exact_times) return;
  constexpr double delay_s = 40e-6;
  std::atomic<int> at_work = 0;
  std::vector<double> samples_s;
  std::map<std::string, double> named;
  const auto options = Options::parse(std::string(machine), ',');
  ProbeTransport::launch(0, nullptr, 8, options, [&](ProbeTransport& transport) {
    Shared network(std::move(transport), at_work, delay_s);
    Victim<Shared> pattern(network, case_of(8, "of=ring,victims=4,load=alltoall"));
    const auto found = Sampler(network, calibrate(network), Effort{}).measure(pattern, victim);
    if (network.rank() != 0) return;
    samples_s = found.samples_s;
    for (const auto& [name, value] : found.values) named[name] = value;
  });
  REQUIRE(samples_s.size() >= 20);
  CHECK(median(samples_s) == doctest::Approx(one_way_s(8) + delay_s).epsilon(1e-9));
  // Who was told late to begin is not yet in step in the first one.
  for (const double sample_s : samples_s)
    CHECK(sample_s == doctest::Approx(one_way_s(8) + delay_s).epsilon(0.01));
  CHECK(named["congestors"] == 4);
  // Every congestor sends to three others, one way after the other.
  CHECK(named["load_Bps"] > 0);
  CHECK(named["load_Bps"] < 4 * 4096 / one_way_s(4096));
}

}  // namespace nhalf::test_victim
