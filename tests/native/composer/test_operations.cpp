#include "composer/program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace nhalf {
namespace {

constexpr LogGP machine{.o_s = 1e-6, .o_r = 2e-6, .g = 4e-6, .L = 5e-6, .G = 1e-9};

/// Ranks of a LogGP machine, each on a node of its own, whose sends never wait.
network::Wires wires_of(const LogGP& m, int ranks) {
  const auto picoseconds = [](double time_s) {
    return std::to_string(std::llround(1e12 * time_s));
  };
  const auto line = [&](const char* name, double start_s) {
    return name + (" 0 " + picoseconds(start_s)) + " " + picoseconds(1e6 * m.G) + " 0\n";
  };
  std::string text = "nodes";
  for (int rank = 0; rank < ranks; ++rank) text += " " + std::to_string(rank);
  text += "\neager 1000000000\nwire 0 " + picoseconds(m.o_s) + " " + picoseconds(m.o_r) + " 0\n";
  text += line("part", m.one_s(0)) + line("out", m.g) + line("in", m.g);
  return *network::Wires::read(text);
}

/// Whether messages of several ranks meet at one: on the network they come in as they arrive, and
/// nobody waits to send; formulas have them in the order of their receives.
template <class Listed>
bool meets_at_ranks(std::string_view operation, const Listed& algorithm) {
  const std::string_view name = algorithm.info.name;
  return operation == "alltoall" && (name == "linear" || name == "windowed");
}

/// Algorithms of an operation whose time is known by a formula, and the n of that.
template <class List>
int check_formulas(const char* operation, const List& list) {
  memory_source = no_memory;
  int checked = 0;
  for (const auto& algorithm : list)
    for (const int ranks : {2, 4, 5, 8, 16, 17})
      for (const std::size_t size : {0UL, 2720UL, 65536UL}) {
        if (algorithm.info.time_s == nullptr || meets_at_ranks(operation, algorithm)) continue;
        const auto n = static_cast<double>(size);
        const auto expected_s = algorithm.info.time_s(machine, ranks, n);
        if (!expected_s) continue;
        const auto times =
            composed(wires_of(machine, ranks), {operation, algorithm.info.name, size});
        CAPTURE(algorithm.info.name);
        CAPTURE(ranks);
        CAPTURE(size);
        REQUIRE(times.has_value());
        CHECK(times->completion_s == doctest::Approx(*expected_s).epsilon(1e-9));
        ++checked;
      }
  memory_source = host_memory;
  return checked;
}

}  // namespace

TEST_CASE("algorithms take what their formulas say of a LogGP machine") {
  using T = ComposedTransport;
  CHECK(check_formulas("bcast", algorithms::bcast::all<T>()) > 20);
  CHECK(check_formulas("allgather", algorithms::allgather::all<T>()) > 20);
  CHECK(check_formulas("alltoall", algorithms::alltoall::all<T>()) > 20);
  CHECK(check_formulas("gather", algorithms::gather::all<T>()) > 10);
  CHECK(check_formulas("scatter", algorithms::scatter::all<T>()) > 10);
  CHECK(check_formulas("reduce", algorithms::reduce::all<T>()) > 10);
  CHECK(check_formulas("scan", algorithms::scan::all<T>()) > 10);
  CHECK(check_formulas("barrier", algorithms::barrier::all<T>()) > 10);
}

TEST_CASE("messages are cut into the parts that are asked for") {
  const auto wires = wires_of(machine, 8);
  const auto chain_s = [&](std::size_t part_bytes) {
    return composed(wires, {"bcast", "chain", 1U << 20U, part_bytes})->completion_s;
  };
  const auto expected_s = [](double part_bytes) {
    const double count = (1U << 20U) / part_bytes;
    return 7 * machine.one_s(part_bytes) + (count - 1) * (machine.g + part_bytes * machine.G);
  };
  for (const std::size_t part_bytes : {1024UL, 8192UL, 65536UL, 1UL << 20U})
    CHECK(chain_s(part_bytes) == doctest::Approx(expected_s(static_cast<double>(part_bytes))));
  CHECK(composed(wires, {"bcast", "binomial", 64, default_part_bytes}));
  CHECK(!composed(wires, {"bcast", "binomial", 64, 32}));
}

TEST_CASE("the root is free when its last message left, and messages keep ranks a gap each") {
  memory_source = no_memory;
  const std::size_t size = 1000;
  const double apart_s = machine.g + 1000 * machine.G;
  for (const int ranks : {2, 3, 8, 17}) {
    CAPTURE(ranks);
    const int messages = ranks - 1;
    const auto root_s = [&](int sends) {
      return (sends - 1) * apart_s + machine.o_s + 1000 * machine.G;
    };
    const auto linear = composed(wires_of(machine, ranks), {"bcast", "linear", size});
    const auto binomial = composed(wires_of(machine, ranks), {"bcast", "binomial", size});
    const auto gathered = composed(wires_of(machine, ranks), {"gather", "linear", size});
    REQUIRE((linear && binomial && gathered));
    CHECK(linear->root_s == doctest::Approx(root_s(messages)).epsilon(1e-9));
    CHECK(binomial->root_s ==
          doctest::Approx(root_s(static_cast<int>(std::ceil(std::log2(ranks))))).epsilon(1e-9));
    for (const auto& kept : {linear, binomial})
      CHECK(kept->processors_s == doctest::Approx(2 * messages * apart_s).epsilon(1e-9));
    CHECK(gathered->root_s == gathered->completion_s);
  }
  memory_source = host_memory;
}

TEST_CASE("what is no algorithm has no time") {
  const auto wires = wires_of(machine, 4);
  CHECK(!composed(wires, {"bcast", "nonsense", 8}));
  CHECK(!composed(wires, {"nonsense", "linear", 8}));
}

}  // namespace nhalf
