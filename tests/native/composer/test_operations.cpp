// SPDX-License-Identifier: Apache-2.0
#include "composer/operations.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace nhalf {
namespace {

constexpr LogGP machine{.o_s = 1e-6, .o_r = 2e-6, .g = 4e-6, .L = 5e-6, .G = 1e-9};

MessageParts parts_of(const LogGP& m) {
  MessageParts parts;
  parts.o_s = m.o_s;
  parts.o_r = m.o_r;
  parts.message.add({0, m.one_s(0), m.G, 0});
  parts.sends_apart.add({0, m.g, m.G, 0});
  parts.receives_apart.add({0, m.g, m.G, 0});
  return parts;
}

/// Algorithms of an operation whose time is known by a formula, and the n of that.
template <class List>
int check_formulas(const char* operation, const List& list) {
  memory_source = no_memory;
  const auto parts = parts_of(machine);
  int checked = 0;
  for (const auto& algorithm : list)
    for (const int ranks : {2, 4, 5, 8, 16, 17})
      for (const std::size_t size : {0UL, 2720UL, 65536UL}) {
        if (algorithm.info.time_s == nullptr) continue;
        const auto n = static_cast<double>(size);
        const auto expected_s = algorithm.info.time_s(machine, ranks, n);
        if (!expected_s) continue;
        const auto composed = composed_s(parts, {operation, algorithm.info.name, ranks, size});
        CAPTURE(algorithm.info.name);
        CAPTURE(ranks);
        CAPTURE(size);
        REQUIRE(composed.has_value());
        CHECK(*composed == doctest::Approx(*expected_s).epsilon(1e-9));
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
  const auto parts = parts_of(machine);
  const auto chain_s = [&](std::size_t part_bytes) {
    return *composed_s(parts, {"bcast", "chain", 8, 1U << 20U, part_bytes});
  };
  const auto expected_s = [](double part_bytes) {
    const double count = (1U << 20U) / part_bytes;
    return 7 * machine.one_s(part_bytes) + (count - 1) * (machine.g + part_bytes * machine.G);
  };
  for (const std::size_t part_bytes : {1024UL, 8192UL, 65536UL, 1UL << 20U})
    CHECK(chain_s(part_bytes) == doctest::Approx(expected_s(static_cast<double>(part_bytes))));
  CHECK(composed_s(parts, {"bcast", "binomial", 8, 64, default_part_bytes}));
  CHECK(!composed_s(parts, {"bcast", "binomial", 8, 64, 32}));
}

TEST_CASE("what is no algorithm has no time, and a curve has its pieces in order") {
  const auto parts = parts_of(machine);
  CHECK(!composed_s(parts, {"bcast", "nonsense", 4, 8}));
  CHECK(!composed_s(parts, {"nonsense", "linear", 4, 8}));
  PartCurve curve;
  CHECK(curve.at_s(8) == 0);
  curve.add({0, 1, 0, 0});
  curve.add({100, 2, 0.5, 0.25});
  CHECK(curve.at_s(99) == 1);
  CHECK(curve.at_s(400) == doctest::Approx(2 + 200 + 5));
  CHECK_THROWS_AS(curve.add({100, 3, 0, 0}), InputError);
}

}  // namespace nhalf
