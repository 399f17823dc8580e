// The simulated machine takes exactly the time that LogGP says.
#include "transports/model.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "roster.hpp"
#include "timing/sampler.hpp"

namespace nhalf::test_model {

namespace {

constexpr double o_s = 1.5e-6, o_r = 2.5e-6, g = 6e-6, L = 5e-6, G = 1e-9;
constexpr const char* given = "o_s=1.5e-6,o_r=2.5e-6,g=6e-6,L=5e-6,G=1e-9";

/// Samples of a pattern on a machine with the given and further options.
Measurement measured(const std::string& name, std::size_t size_bytes, const std::string& more = "",
                     const Effort& effort = Effort{}) {
  Measurement result;
  const auto options = Options::parse(std::string(given) + "," + more, ',');
  ModelTransport::launch(0, nullptr, 2, options, [&](ModelTransport& t) {
    for (const auto& entry : patterns<ModelTransport>()) {
      if (entry.info.name != name) continue;
      const auto pattern = entry.make(t, Case{size_bytes});
      auto answer = Sampler(t, calibrate(t), effort).measure(*pattern, entry.info);
      if (t.rank() == 0) result = std::move(answer);
    }
  });
  return result;
}

double time_of(const std::string& name, std::size_t size_bytes, const std::string& more = "") {
  auto samples = measured(name, size_bytes, more).samples_s;
  REQUIRE(!samples.empty());
  return median(samples);
}

}  // namespace

TEST_CASE("one way is o_s + L + o_r + nG, in every mode of sending") {
  for (const auto* name : {"pingpong", "pingpong-ssend", "pingpong-bsend", "pingpong-rsend",
                           "pingpong-diffbuf", "pingping", "exchange"})
    for (const std::size_t n : {0UL, 1UL, 1000UL, 1000000UL}) {
      CAPTURE(name);
      CAPTURE(n);
      CHECK(time_of(name, n) ==
            doctest::Approx(o_s + L + o_r + static_cast<double>(n) * G).epsilon(1e-9));
    }
}

TEST_CASE("a stream's messages are g + nG apart, without the acknowledgement of a batch") {
  for (const std::size_t n : {0UL, 1000UL, 100000UL}) {
    CAPTURE(n);
    CHECK(time_of("stream", n) == doctest::Approx(g + static_cast<double>(n) * G).epsilon(1e-9));
  }
}

TEST_CASE("the parameters are found one by one: overheads, gap and round trip") {
  for (const std::size_t n : {0UL, 1UL, 1000UL, 100000UL}) {
    CAPTURE(n);
    const double bytes_s = static_cast<double>(n) * G;
    CHECK(time_of("overhead-send", n) == doctest::Approx(o_s).epsilon(1e-9));
    CHECK(time_of("overhead-recv", n) == doctest::Approx(o_r).epsilon(1e-9));
    CHECK(time_of("roundtrip", n) == doctest::Approx(2 * (o_s + L + o_r) + bytes_s).epsilon(1e-9));
    CHECK(time_of("gap", n) == doctest::Approx(g + bytes_s).epsilon(1e-9));
  }
}

TEST_CASE("the gap between messages is at least what either processor spends on one") {
  CHECK(time_of("gap", 0, "g=1e-7") == doctest::Approx(o_r).epsilon(1e-9));
  CHECK(time_of("gap", 0, "g=1e-7,o_s=4e-6") == doctest::Approx(4e-6).epsilon(1e-9));
  CHECK(time_of("gap", 1000, "g=1e-7") == doctest::Approx(o_r).epsilon(1e-9));
  CHECK(time_of("gap", 5000, "g=1e-7") == doctest::Approx(1e-7 + 5000 * G).epsilon(1e-9));
}

TEST_CASE("a message is waited for until it is there, whatever its size and protocol") {
  const std::string protocol = "eager_bytes=4096,rendezvous_s=3e-4,rendezvous_G=2e-9";
  for (const std::size_t n : {0UL, 4096UL, 4097UL, 1000000UL})
    CHECK(time_of("overhead-recv", n, protocol) == doctest::Approx(o_r).epsilon(1e-9));
}

TEST_CASE("a rendezvous adds its latency above the eager size, and not at it") {
  const std::string protocol = "eager_bytes=4096,rendezvous_s=3e-6,rendezvous_G=2e-9";
  CHECK(time_of("pingpong", 4096, protocol) ==
        doctest::Approx(o_s + L + o_r + 4096 * G).epsilon(1e-9));
  CHECK(time_of("pingpong", 4097, protocol) ==
        doctest::Approx(o_s + L + o_r + 3e-6 + 4097 * 2e-9).epsilon(1e-9));
}

TEST_CASE("packets add a step at the offset and every packet after it") {
  const std::string packets = "packet_offset_bytes=217,packet_bytes=232,packet_s=1e-6";
  const double base_s = o_s + L + o_r;
  CHECK(time_of("pingpong", 216, packets) == doctest::Approx(base_s + 216 * G).epsilon(1e-9));
  CHECK(time_of("pingpong", 217, packets) ==
        doctest::Approx(base_s + 217 * G + 1e-6).epsilon(1e-9));
  CHECK(time_of("pingpong", 448, packets) ==
        doctest::Approx(base_s + 448 * G + 1e-6).epsilon(1e-9));
  CHECK(time_of("pingpong", 449, packets) ==
        doctest::Approx(base_s + 449 * G + 2e-6).epsilon(1e-9));
}

TEST_CASE("a deterministic machine is not asked more often than needed") {
  CHECK(measured("pingpong", 64).samples_s.size() == Effort{}.samples_min);
}

TEST_CASE("noise has the given spread around the true median") {
  const Effort effort{.slice_s = 1e9, .precision = 0, .samples_min = 4000, .samples_max = 4000};
  auto samples = measured("pingpong", 0, "noise=0.05,seed=7", effort).samples_s;
  const double truth_s = o_s + L + o_r;
  CHECK(median(samples) == doctest::Approx(truth_s).epsilon(0.005));
  double squares = 0;
  for (const double sample : samples) squares += std::pow(std::log(sample / truth_s), 2);
  CHECK(std::sqrt(squares / static_cast<double>(samples.size())) ==
        doctest::Approx(0.05).epsilon(0.1));
}

TEST_CASE("a tail has the given share and factor, and the median stays") {
  const Effort effort{.slice_s = 1e9, .precision = 0, .samples_min = 20000, .samples_max = 20000};
  auto samples =
      measured("pingpong", 0, "tail_fraction=0.01,tail_factor=3,seed=3", effort).samples_s;
  const double truth_s = o_s + L + o_r;
  const auto slow = std::ranges::count_if(samples, [&](double s) { return s > 2.5 * truth_s; });
  CHECK(static_cast<double>(slow) / static_cast<double>(samples.size()) ==
        doctest::Approx(0.01).epsilon(0.2));
  CHECK(*std::ranges::max_element(samples) == doctest::Approx(3 * truth_s));
  CHECK(median(samples) == doctest::Approx(truth_s));
  CHECK_THROWS_AS(measured("pingpong", 0, "tail_fraction=1.5"), InputError);
}

TEST_CASE("the slow state has the given share and factor") {
  const Effort effort{.slice_s = 1e9, .precision = 0, .samples_min = 20000, .samples_max = 20000};
  const auto samples =
      measured("pingpong", 0, "state_slow=1.5,state_fraction=0.3,state_dwell=5,seed=3", effort)
          .samples_s;
  const double truth_s = o_s + L + o_r;
  const auto slow = std::ranges::count_if(samples, [&](double s) { return s > 1.25 * truth_s; });
  CHECK(static_cast<double>(slow) / static_cast<double>(samples.size()) ==
        doctest::Approx(0.3).epsilon(0.1));
  CHECK(*std::ranges::max_element(samples) == doctest::Approx(1.5 * truth_s).epsilon(1e-6));
}

TEST_CASE("the same seed gives the same samples, another seed others") {
  const auto first = measured("pingpong", 8, "noise=0.1,seed=5").samples_s;
  CHECK(first == measured("pingpong", 8, "noise=0.1,seed=5").samples_s);
  CHECK(first != measured("pingpong", 8, "noise=0.1,seed=6").samples_s);
}

TEST_CASE("times grow with the drift") {
  const Effort effort{.slice_s = 1e9, .precision = 0, .samples_min = 100, .samples_max = 100};
  const auto samples = measured("pingpong", 0, "drift_per_s=100", effort).samples_s;
  CHECK(samples.back() > samples.front() * 1.05);
}

TEST_CASE("samples stay in the order in which they were taken") {
  const Effort effort{.slice_s = 1e9, .precision = 0, .samples_min = 100, .samples_max = 100};
  const auto samples = measured("pingpong", 0, "drift_per_s=100", effort).samples_s;
  CHECK(std::ranges::is_sorted(samples));
}

TEST_CASE("a coarse clock makes long batches") {
  const auto result = measured("pingpong", 0, "clock_resolution_s=1e-6");
  CHECK(static_cast<double>(result.batch_rounds) * 2 * (o_s + L + o_r) >= 1000 * 1e-6 * 0.8);
}

TEST_CASE("what is gathered next does not reach what was gathered before") {
  for (const int ranks : {2, 3, 5})
    ModelTransport::launch(0, nullptr, ranks, Options{}, [&](ModelTransport& t) {
      const double rank = t.rank();
      const auto first = collect(t, std::span(&rank, 1));
      const double later = 100 + rank;
      const auto second = collect(t, std::span(&later, 1));
      for (std::size_t from = 0; from < first.size(); ++from) {
        CHECK(first[from] == static_cast<double>(from));
        CHECK(second[from] == 100 + static_cast<double>(from));
      }
    });
}

}  // namespace nhalf::test_model
