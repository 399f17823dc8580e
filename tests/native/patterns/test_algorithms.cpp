// Every algorithm through the pattern that measures it: right data, and the time that it states.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "patterns/bases/collectives/operation.hpp"
#include "recording.hpp"
#include "roster.hpp"
#include "timing/global_clock.hpp"
#include "timing/operation_sampler.hpp"

#include "patterns/collectives/block_operations.hpp"

namespace nhalf::test_algorithm_axis {

namespace {

Case with(std::size_t size_bytes, std::string_view algorithm, const std::string& more = "") {
  return case_of(size_bytes, "algorithm=" + std::string(algorithm) + more);
}

/// An axis may have the name without the library's own way among its values.
bool lets_choose(const PatternInfo& info) {
  return std::ranges::any_of(info.axes, [](const AxisInfo& axis) {
    return axis.name == "algorithm" && axis.fallback == native_algorithm;
  });
}

bool has_axis(const PatternInfo& info, std::string_view name) {
  return std::ranges::find(info.axes, name, &AxisInfo::name) != info.axes.end();
}

/// Whether a pattern verifies with this rank, or every rank in turn, as the root.
bool verifies(ProbeTransport& t, const PatternEntry<ProbeTransport>& entry, const Case& point) {
  const auto pattern = entry.make(t, point);
  bool good = true;
  for (int root = 0; root < (entry.info.rooted ? t.size() : 1); ++root) {
    pattern->root_at(root);
    good = t.all(pattern->verify()) && good;
  }
  return good;
}

/// Names of algorithms that gave wrong data.
std::string failures(int ranks) {
  std::string failed;
  ProbeTransport::launch(0, nullptr, ranks, Options{}, [&](ProbeTransport& t) {
    for (const auto& entry : patterns<ProbeTransport>())
      for (const auto& [info, present] : entry.algorithms)
        for (const std::string place : {"", ",place=in"}) {
          if (!present || (!place.empty() && !has_axis(entry.info, "place"))) continue;
          for (const std::size_t size_bytes : {0UL, 4100UL, 20000UL}) {
            if (!entry.info.sized && size_bytes > 0) continue;
            const bool good = verifies(t, entry, with(size_bytes, info.name, place));
            if (!good && t.rank() == 0)
              failed += std::string(entry.info.name) + " " + std::string(info.name) + place + "; ";
          }
        }
  });
  return failed;
}

/// What AlgorithmInfo means by n where a pattern is measured with this size.
double stated_bytes(const PatternInfo& info, int ranks, std::size_t size_bytes) {
  const auto n = static_cast<double>(size_bytes);
  return info.name == "reduce-scatter" ? n / ranks : n;
}

/// The time of an operation on the simulated machine, seconds; -1 where its data were wrong.
double operation_s(ProbeTransport& t, GlobalClock<ProbeTransport>& clock,
                   const PatternEntry<ProbeTransport>& entry, const Case& point) {
  const auto pattern = entry.make(t, point);
  const Effort effort{.slice_s = 1e-3, .samples_min = 1, .samples_max = 1};
  const auto found =
      OperationSampler(t, calibrate(t), effort, clock).measure(*pattern, entry.info, point);
  return found.verified && t.rank() == 0 ? found.samples_s.at(0) : -1;
}

/// What a body throws, "" where it throws nothing.
template <class Body>
std::string complaint(Body body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every algorithm verifies through its pattern, with every root, in place and not") {
  for (const int ranks : {2, 3, 5, 8}) {
    CAPTURE(ranks);
    CHECK(failures(ranks) == "");
  }
}

TEST_CASE("patterns list algorithms where they have the axis, and nowhere else") {
  int choosing = 0;
  for (const auto& entry : patterns<ProbeTransport>()) {
    CAPTURE(entry.info.name);
    CHECK(entry.algorithms.empty() != lets_choose(entry.info));
    choosing += entry.algorithms.empty() ? 0 : 1;
    // What takes part of its messages from the library has no cost of its own.
    for (const auto& [info, present] : entry.algorithms)
      CHECK(info.cost.empty() == info.name.ends_with("-native-bcast"));
  }
  CHECK(choosing == 11);
}

TEST_CASE("an algorithm is measured at the time that it states") {
  if (!exact_times) return;
  const LogGP stated{.o_s = o_s, .o_r = o_r, .g = g, .L = L, .G = G};
  int compared = 0;
  for (const int p : {2, 3, 4, 7, 8})
    ProbeTransport::launch(0, nullptr, p, Options::parse(machine, ','), [&](ProbeTransport& t) {
      GlobalClock clock(t);
      for (const auto& entry : patterns<ProbeTransport>())
        for (const auto& algorithm : entry.algorithms)
          for (const std::size_t size : {std::size_t{0}, static_cast<std::size_t>(p) * 1024}) {
            const auto& info = algorithm.info;
            if (info.time_s == nullptr || (!entry.info.sized && size > 0)) continue;
            const auto time_s = info.time_s(stated, p, stated_bytes(entry.info, p, size));
            const double found_s = operation_s(t, clock, entry, with(size, info.name));
            if (!time_s || t.rank() != 0) continue;
            CAPTURE(entry.info.name);
            CAPTURE(info.name);
            CAPTURE(p);
            CAPTURE(size);
            ++compared;
            CHECK(found_s == doctest::Approx(*time_s).epsilon(1e-9));
          }
    });
  CHECK(compared > 200);
}

TEST_CASE("algorithms that cut messages do so as the axis says") {
  for (const std::string name : {"chain", "binary-pipelined", "binomial-pipelined"})
    for (const auto& cut : {std::pair{100, 10}, {999, 2}, {1000, 1}, {5000, 1}}) {
      const auto part = cut.first;
      const auto parts = cut.second;
      CAPTURE(name);
      CAPTURE(part);
      Traffic traffic;
      record<Bcast>(traffic, 4, 1000, "algorithm=" + name + ",part=" + std::to_string(part));
      CHECK(traffic.verified);
      CHECK(traffic.messages() == 3 * parts);
    }
}

TEST_CASE("what cannot be cut says so") {
  ProbeTransport::launch(0, nullptr, 2, Options{}, [](ProbeTransport& t) {
    for (const auto* axes : {"part=100", "algorithm=binomial,part=100",
                             "algorithm=k-nomial,part=100", "algorithm=chain,part=0"})
      CHECK_THROWS_AS(Bcast<ProbeTransport>(t, case_of(1000, axes)), InputError);
  });
}

TEST_CASE("what cannot be chosen says so") {
  const PatternInfo info{.name = "bcast", .what = "", .axes = algorithm_axes};
  const AlgorithmInfo needy{.name = "needy",
                            .what = "",
                            .source = "",
                            .cost = "",
                            .messages = [](int, std::size_t) -> std::int64_t { return 0; }};
  using Chosen = ChosenAlgorithm<ProbeTransport, algorithms::bcast::Signature>;
  const std::vector<Chosen::Known> list{{needy, [](int) {}}};
  const auto native = [](ProbeTransport&, Scratch&, int, Bytes) {};
  const auto choose = [&](std::string_view name) {
    return complaint([&] { Chosen(info, with(0, name), list, native); });
  };
  CHECK(choose("native") == "");
  CHECK(choose("other") == "pattern bcast has no algorithm 'other'");
  CHECK(choose("needy").starts_with("algorithm needy of bcast is absent: the transport lacks"));
  CHECK(!entries_of(list).front().present);
}

TEST_CASE("a first call is one of the library") {
  const PatternInfo info{.name = "bcast", .what = "", .axes = algorithm_axes, .rooted = true};
  const auto conditions = [&](std::string_view name) {
    return complaint([&] { Conditions::of(info, with(0, name, ",call=first"), 2); });
  };
  CHECK(conditions("native") == "");
  CHECK(conditions("chain").starts_with("call=first: only the library's own algorithm"));
}

}  // namespace nhalf::test_algorithm_axis
