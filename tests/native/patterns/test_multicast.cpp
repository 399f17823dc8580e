// Who forwards to whom when a multicast is measured on messages.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "rank_counts.hpp"
#include "recording.hpp"

#include "patterns/traffic/multicast.hpp"

namespace nhalf::test_multicast_messages {

constexpr const char* ways[] = {"binary", "binomial", "separate", "serial"};

TEST_CASE("every destination gets the message once from one who has it, in as many pieces") {
  for (const int ranks : rank_counts)
    for (const int group : {1, (ranks + 1) / 2, ranks - 1})
      for (const std::string way : ways) {
        if (ranks < 2 || group > ranks - 1) continue;
        CAPTURE(ranks);
        CAPTURE(group);
        CAPTURE(way);
        const auto axes = "algorithm=" + way + ",group=" + std::to_string(group);
        Traffic whole;
        record<MulticastMessages>(whole, ranks, 1000, axes);
        CHECK(whole.verified);
        CHECK(whole.messages() == group);
        CHECK(whole.moved_bytes == 1000 * static_cast<std::uint64_t>(group));
        Traffic cut;
        record<MulticastMessages>(cut, ranks, 1000, axes + ",piece=300");
        CHECK(cut.verified);
        CHECK(cut.messages() == 4 * group);
        for (const auto& [who, count] : cut.data) CHECK(whole.data.contains(who));
      }
}

TEST_CASE("the source of a separate multicast sends to all, of a serial one to one") {
  Traffic separate;
  record<MulticastMessages>(separate, 5, 100, "algorithm=separate,group=4");
  for (const auto& [who, count] : separate.data) CHECK(who.first == 0);
  Traffic serial;
  record<MulticastMessages>(serial, 5, 100, "algorithm=serial,group=4");
  int from_source = 0;
  for (const auto& [who, count] : serial.data) from_source += who.first == 0 ? 1 : 0;
  CHECK(from_source == 1);
}

TEST_CASE("a wrong byte is found") {
  Traffic spoiled;
  record<MulticastMessages>(spoiled, 3, 100, "algorithm=binomial,group=2", 1, true);
  CHECK(!spoiled.verified);
}

TEST_CASE("what cannot be is refused") {
  ProbeTransport::launch(0, nullptr, 4, Options{}, [&](ProbeTransport& t) {
    for (const auto* axes : {"algorithm=u-torus,group=1", "algorithm=serial,group=4",
                             "algorithm=serial,group=0", "algorithm=none,group=1"})
      CHECK_THROWS_AS(MulticastMessages<ProbeTransport>(t, case_of(1, axes)), InputError);
  });
}

/// The values of a multicast by name, as rank 0 tells them.
std::map<std::string, double> values_of(int ranks, const std::string& axes) {
  std::map<std::string, double> values;
  const auto options = Options::parse(std::string(machine), ',');
  ProbeTransport::launch(0, nullptr, ranks, options, [&](ProbeTransport& t) {
    MulticastMessages<ProbeTransport> pattern(t, case_of(64, axes));
    pattern.run(1);
    const auto mine = pattern.values();
    if (t.rank() == 0)
      for (const auto& [name, value] : mine) values[name] = value;
  });
  return values;
}

TEST_CASE("processor time is that of those that take part") {
  auto separate = values_of(5, "algorithm=separate,group=4");
  CHECK(separate.size() == 3);
  for (const auto& [name, value] : separate) CHECK(value >= 0);
  if (!exact_times) return;
  CHECK(separate["host_cpu_source_s"] == doctest::Approx(4 * o_s));
  CHECK(separate["host_cpu_max_s"] == doctest::Approx(4 * o_s));
  CHECK(separate["host_cpu_s"] == doctest::Approx(4 * (o_s + o_r) / 5));
  auto serial = values_of(5, "algorithm=serial,group=2");
  CHECK(serial["host_cpu_source_s"] == doctest::Approx(o_s));
  CHECK(serial["host_cpu_max_s"] == doctest::Approx(o_s + o_r));
  CHECK(serial["host_cpu_s"] == doctest::Approx(2 * (o_s + o_r) / 3));
  auto pieces = values_of(3, "algorithm=serial,group=2,piece=16");
  CHECK(pieces["host_cpu_max_s"] == doctest::Approx(4 * (o_s + o_r)));
}

}  // namespace nhalf::test_multicast_messages
