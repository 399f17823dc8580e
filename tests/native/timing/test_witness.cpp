// The reference of one flag between two cores: measured where there is one, given up where not.
#include "timing/witness.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <set>
#include <vector>

#include "contract/options.hpp"
#include "transports/model.hpp"
#include "transports/threads.hpp"

using namespace nhalf;

TEST_CASE("rank 0 knows what a flag takes, and may ask again") {
  std::atomic<int> known = 0, unknown = 0;
  ThreadsTransport::launch(0, nullptr, 3, Options{}, [&](ThreadsTransport& t) {
    Flag flag(t, std::vector<int>{0, 0, 0});
    for (int i = 0; i < 3; ++i) {
      const double flag_s = flag.measure_s();
      // A machine under load may keep one of the two from its core for too long.
      if (std::isnan(flag_s)) ++unknown;
      if (flag_s > 0 && flag_s < 1) ++known;
      if (t.rank() != 0) CHECK(std::isnan(flag_s));
      t.barrier();
    }
  });
  CHECK(known + unknown == 9);
  CHECK(known <= 3);
}

TEST_CASE("ranks without memory in common have none") {
  for (const auto& hosts : {std::vector<int>{0, 1}, std::vector<int>{0}})
    ThreadsTransport::launch(0, nullptr, static_cast<int>(hosts.size()), Options{},
                             [&](ThreadsTransport& t) {
                               Flag flag(t, hosts);
                               CHECK(std::isnan(flag.measure_s()));
                             });
}

TEST_CASE("virtual clocks have none") {
  ModelTransport::launch(0, nullptr, 2, Options{}, [&](ModelTransport& t) {
    Flag flag(t, std::vector<int>{0, 0});
    CHECK(std::isnan(flag.measure_s()));
  });
}

TEST_CASE("a model machine says what a flag takes in each of its states") {
  const auto options = Options::parse(
      "flag_s=50e-9,flag_slow=3,states=3,state_slow=1.5,state_fraction=0.5,"
      "state_dwell=5",
      ',');
  ModelTransport::launch(0, nullptr, 2, options, [&](ModelTransport& t) {
    Flag flag(t, std::vector<int>{0, 0});
    std::set<long> flags_ns;
    for (int batch = 0; batch < 200; ++batch) {
      const double flag_s = flag.measure_s();
      if (t.rank() == 0) flags_ns.insert(std::lround(flag_s * 1e9));
      t.barrier();
    }
    if (t.rank() == 0) CHECK(flags_ns == std::set<long>{50, 150, 450});
  });
}

namespace {

/// Rank 0 alone asks so many times, then both together; whether rank 0 then gets a flag.
bool is_known_after(int misses) {
  std::atomic<bool> known = false;
  ThreadsTransport::launch(0, nullptr, 2, Options{}, [&](ThreadsTransport& t) {
    Flag flag(t, std::vector<int>{0, 0});
    for (int i = 0; i < misses && t.rank() == 0; ++i) CHECK(std::isnan(flag.measure_s()));
    t.barrier();
    for (int i = 0; i < misses && t.rank() == 1; ++i) CHECK(std::isnan(flag.measure_s()));
    // A machine under load may keep one of them from its core for long.
    const double flag_s = flag.measure_s({.meeting_s = 30, .spins = std::int64_t{1} << 36});
    if (t.rank() == 0) known = flag_s > 0;
  });
  return known;
}

}  // namespace

TEST_CASE("who was missed once is asked again, and who never answers is not") {
  CHECK(is_known_after(1));
  CHECK(!is_known_after(10));
}
