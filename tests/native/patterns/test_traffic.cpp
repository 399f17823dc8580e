// Traffic on every transport that starts its own ranks; on the simulated one, to the second.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rank_counts.hpp"
#include "roster.hpp"
#include "timing/sampler.hpp"

#include "patterns/traffic/traffic.hpp"

namespace nhalf::test_traffic {

namespace {

using Made = ScheduledTraffic<ProbeTransport>;

Case point(const std::string& axes, std::size_t size_bytes, std::span<const int> hosts = {}) {
  return {.size_bytes = size_bytes, .axes = Options::parse(axes, ','), .hosts = hosts};
}

template <class Body>
void on_ranks(int ranks, Body body, const std::string& options = "") {
  ProbeTransport::launch(0, nullptr, ranks, Options::parse(options, ','), body);
}

std::map<std::string, double> named(const std::vector<Value>& values) {
  std::map<std::string, double> found;
  for (const auto& [name, value] : values) found[name] = value;
  return found;
}

/// Turns around a bit of one message that arrives.
class Spoiling : public ProbeTransport {
 public:
  Spoiling(ProbeTransport&& good, std::size_t message)
      : ProbeTransport(std::move(good)), left_(message) {}
  void recv(int from, Bytes in) {
    ProbeTransport::recv(from, in);
    if (left_-- == 0) in.back() ^= std::byte{1};
  }

 private:
  std::size_t left_;
};

/// Counts what leaves this rank.
class Counting : public ProbeTransport {
 public:
  explicit Counting(ProbeTransport&& good) : ProbeTransport(std::move(good)) {}
  auto isend(int to, ConstBytes out) {
    ++messages;
    bytes += out.size();
    return ProbeTransport::isend(to, out);
  }
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

constexpr const char* rules[] = {
    "uniform", "bit-reversal", "butterfly",       "complement", "transpose",
    "shuffle", "neighbour",    "cube,distance=1", "cube",       "baseline,distance=4"};

}  // namespace

TEST_CASE("every rule verifies for every number of ranks") {
  const std::string laws = ",load=100,size_law=uniform,gap_law=uniform";
  for (const int ranks : rank_counts)
    for (const std::string rule : rules)
      for (const std::size_t size : {0UL, 1500UL}) {
        CAPTURE(ranks);
        CAPTURE(rule);
        CAPTURE(size);
        std::atomic<int> good{0};
        std::atomic<int> refused{0};
        on_ranks(ranks, [&](ProbeTransport& t) {
          try {
            Made pattern(t, point("to=" + rule + (ranks % 2 == 0 ? ",load=150" : laws), size));
            const bool right = pattern.verify();
            pattern.prepare();
            pattern.run(1);
            const auto values = named(pattern.values());
            good += right && values.at("messages") == 128 * values.at("senders") ? 1 : 0;
          } catch (const InputError&) {
            ++refused;
          }
        });
        // With 2 or 3 ranks one bit is left: most rules leave it where it is.
        const bool one_bit = rule == "uniform" || rule == "complement" || rule == "neighbour" ||
                             rule == "cube,distance=1" || rule == "cube";
        const bool works = one_bit || ranks >= 8 || (ranks >= 4 && rule != "baseline,distance=4");
        CHECK(good == (works ? ranks : 0));
        CHECK(refused == (works ? 0 : ranks));
      }
}

TEST_CASE("what leaves the ranks is what the schedules say") {
  for (const int ranks : {2, 5, 8})
    for (const std::string rule : {"uniform", "complement", "bit-reversal"}) {
      if (ranks < 4 && rule == "bit-reversal") continue;
      CAPTURE(ranks);
      CAPTURE(rule);
      const auto where = point("to=" + rule + ",seed=9", 1000);
      std::uint64_t bytes = 0;
      std::uint64_t messages = 0;
      const Destinations destinations(ranks, where);
      for (int rank = 0; rank < ranks; ++rank)
        for (const auto& message : schedule({.messages = 128, .size_bytes = 1000, .seed = 9}, rank,
                                            destinations.of(rank))) {
          bytes += message.size_bytes;
          ++messages;
        }
      std::atomic<std::uint64_t> bytes_sent{0};
      std::atomic<std::uint64_t> messages_sent{0};
      on_ranks(ranks, [&](ProbeTransport& t) {
        Counting counting(std::move(t));
        ScheduledTraffic<Counting> pattern(counting, where);
        pattern.run(3);
        bytes_sent += counting.bytes;
        messages_sent += counting.messages;
        CHECK(pattern.moved_bytes() == bytes);
        CHECK(named(pattern.values()).at("messages") == static_cast<double>(messages));
      });
      CHECK(bytes_sent == 3 * bytes);
      CHECK(messages_sent == 3 * messages);
    }
}

TEST_CASE("a wrong byte is found in any message") {
  for (const std::size_t message : {0UL, 1UL, 100UL, 127UL}) {
    std::atomic<int> right{0};
    on_ranks(2, [&](ProbeTransport& t) {
      const auto where = point("size_law=fixed", 1000);
      Spoiling spoiling(std::move(t), message);
      right += ScheduledTraffic<Spoiling>(spoiling, where).verify() ? 1 : 0;
    });
    CHECK(right == 0);
  }
}

TEST_CASE("long messages are fewer") {
  on_ranks(2, [](ProbeTransport& t) {
    for (const auto& [size, messages] :
         {std::pair{32768UL, 128.0}, {65536UL, 64.0}, {1UL << 20, 16.0}})
      CHECK(named(Made(t, point("to=neighbour", size)).values()).at("messages") == 2 * messages);
  });
}

TEST_CASE("hosts: on-node and off-node traffic, or a refusal where there is none") {
  const std::vector<int> hosts{0, 0, 0, 1, 1};
  on_ranks(5, [&](ProbeTransport& t) {
    for (const std::string scope : {"on-node", "off-node"}) {
      Made pattern(t, point("scope=" + scope, 10, hosts));
      CHECK(pattern.verify());
    }
    Made across(t, point("to=complement,scope=off-node", 10, hosts));
    CHECK(named(across.values()).at("senders") == 2);
    CHECK_THROWS_AS(Made(t, point("scope=off-node", 10)), InputError);
    CHECK_THROWS_AS(Made(t, point("to=neighbour,scope=off-node,distance=2", 10)), InputError);
  });
}

TEST_CASE("the parts of a mixed traffic are told apart") {
  const std::vector<int> hosts{0, 0, 1, 1};
  on_ranks(4, [&](ProbeTransport& t) {
    const auto share = [&](const std::string& axes) {
      auto mixed = point(axes, 100);
      mixed.hosts = hosts;
      return named(Made(t, mixed).values()).at("on_node_share");
    };
    CHECK(share("to=neighbour") == 1);
    CHECK(share("to=complement") == 0);
    CHECK(share("to=uniform") > 0.2);
    CHECK(share("to=uniform") < 0.5);
    CHECK(share("to=uniform,scope=off-node") == 0);
    CHECK(named(Made(t, point("to=complement", 0)).values()).at("on_node_share") == 1);
  });
}

TEST_CASE("what is no point is refused") {
  on_ranks(2, [](ProbeTransport& t) {
    for (const auto* axes : {"to=shuffle", "load=0.5", "load=1001", "load=-1", "load=much",
                             "size_law=normal", "gap_law=0", "seed=x", "to=butterfly"}) {
      CAPTURE(axes);
      CHECK_THROWS_AS(Made(t, point(axes, 10)), InputError);
    }
  });
}

namespace {

constexpr double o_s = 1.5e-6, o_r = 2.5e-6, g = 6e-6, L = 8e-6, G = 1e-9;
constexpr const char* machine = "o_s=1.5e-6,o_r=2.5e-6,g=6e-6,L=8e-6,G=1e-9";

struct Found {
  double time_s = 0;
  double bytes = 0;
  std::map<std::string, double> values;
};

/// One point on the simulated machine.
Found found(int ranks, const std::string& axes, std::size_t size_bytes) {
  Found result;
  on_ranks(
      ranks,
      [&](ProbeTransport& t) {
        Made pattern(t, point(axes, size_bytes));
        auto measured = Sampler(t, calibrate(t), Effort{}).measure(pattern, traffic_info);
        CHECK(measured.verified);
        if (t.rank() != 0 || measured.samples_s.empty()) return;
        result = {median(measured.samples_s), static_cast<double>(*pattern.moved_bytes()),
                  named(measured.values)};
      },
      machine);
  return result;
}

}  // namespace

// The formulas are those of equal messages that arrive in equal steps, where all ranks do the same.
// A message is on its way for `way_s`, which is shorter than a window of gaps and longer than it
// takes to receive the last window of messages; a gap is longer than both overheads.
TEST_CASE("simulated: rates, delays and what is accepted, below and above saturation") {
  if (ProbeTransport::info.name != "model") return;
  constexpr double count = 128;
  constexpr double size = 1000;
  constexpr double gap_s = g + size * G;
  constexpr double way_s = o_s + size * G + L + o_r;
  constexpr double saturated_s = (count - 1) * gap_s + way_s;
  for (const int ranks : {2, 3, 4, 8, 17})
    for (const std::string to : {"to=complement", "to=neighbour"}) {
      CAPTURE(ranks);
      const double bytes = count * size * (1 << rank_bits(ranks));
      const auto at = [&](const std::string& load) {
        return found(ranks, to + ",size_law=fixed,gap_law=fixed,load=" + load, 1000);
      };
      const auto near = [](double value) { return doctest::Approx(value).epsilon(1e-9); };
      const auto free = at("0");
      CHECK(free.bytes == bytes);
      CHECK(free.time_s == near(saturated_s));
      CHECK(free.values.at("saturated_Bps") == near(bytes / saturated_s));
      CHECK(free.values.at("ranks_taking_part") == 1 << rank_bits(ranks));
      CHECK(!free.values.contains("offered_Bps"));
      CHECK(!free.values.contains("delay_s"));

      // The last message arrives one step before the end, which is longer than its way.
      for (const double load : {10, 50}) {
        const auto low = at(std::to_string(static_cast<int>(load)));
        CHECK(low.time_s == near(saturated_s * 100 / load));
        CHECK(low.values.at("offered_Bps") == near(bytes / saturated_s * load / 100));
        CHECK(low.bytes / low.time_s == near(low.values.at("offered_Bps")));
        CHECK(low.values.at("delay_s") == doctest::Approx(0).epsilon(1e-12));
      }

      // One and a half times too much: after the first arrival the ranks never pause again.
      const auto high = at("150");
      const double step_s = saturated_s / 1.5 / (count + 1);
      CHECK(high.time_s == near(step_s + saturated_s));
      double delays_s = 0;
      double last_s = 0;
      for (int i = 1; i < count; ++i) {
        // The rank is free once the message before is sent and one of the window is received.
        const double free_s = (i - 1) * gap_s + o_s + (i < 4 ? 0 : o_r);
        last_s = std::max(0.0, free_s - i * step_s);
        delays_s += last_s;
      }
      CHECK(high.values.at("delay_s") == near(delays_s / count));
      CHECK(high.values.at("last_delay_s") == near(last_s));
    }
}

TEST_CASE("simulated: random traffic is accepted below saturation, and never more than offered") {
  if (ProbeTransport::info.name != "model") return;
  for (const std::string to : {"uniform", "shuffle", "cube"}) {
    double before_s = 0;
    for (const double load : {10.0, 40.0, 150.0}) {
      CAPTURE(to);
      CAPTURE(load);
      const auto one = found(8, "to=" + to + ",load=" + std::to_string(load), 10000);
      const double offered = one.values.at("offered_Bps");
      CHECK(offered == doctest::Approx(one.values.at("saturated_Bps") * load / 100).epsilon(1e-9));
      CHECK(one.bytes / one.time_s <= offered * (1 + 1e-9));
      if (load < 100) {
        // What is late at the end is at most the longest message: some mean sizes of 128.
        CHECK(one.bytes / one.time_s > 0.95 * offered);
      } else {
        // Without pauses but those before the first messages.
        CHECK(one.bytes / one.time_s > 0.9 * one.values.at("saturated_Bps"));
        CHECK(one.bytes / one.time_s < 1.01 * one.values.at("saturated_Bps"));
      }
      CHECK(one.values.at("delay_s") >= before_s);
      before_s = one.values.at("delay_s");
    }
    CHECK(before_s > 0);
  }
}

}  // namespace nhalf::test_traffic
