#include "composer/program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nhalf {
namespace {

/// Two ranks apart: 10 us for an empty message, 2 us of it at its sender and 3 us at its receiver,
/// and 1 ns for a byte. Longer messages than 1000 bytes keep their sender.
constexpr std::string_view two_ranks =
    "nodes 0 1\neager 1000\nwire 0 2000000 3000000 0\npart 0 10000000 1000000000 0\n";

/// Runs the lines of a program; returns when the steps of the last rank ended, in microseconds.
std::vector<double> ends_us(const std::string& lines, std::size_t last = 1) {
  std::istringstream text(lines);
  ComposedProgram program(*network::Wires::read(two_ranks), text);
  const auto ended = program.run();
  CHECK(ended == last);
  auto ends = program.ends_s(last);
  for (auto& end : ends) end = std::round(1e9 * end) / 1e3;
  return ends;
}

using Ends = std::vector<double>;

}  // namespace

TEST_CASE("Ranks without steps end at once") {
  CHECK(ends_us("rank\nrank\n", 0).empty());
}

TEST_CASE("A message arrives by the curve, and a rank that comes late takes it at once") {
  CHECK(ends_us("rank\nsend 1 1 500\nrank\nwait - 0 1\n") == Ends{10.5});
  CHECK(ends_us("rank\nsend 1 1 500\nrank\ncompute 20000000\nwait - 0 1\n") == Ends{20, 23});
}

TEST_CASE("A long message keeps its sender until it has left, unless it was begun") {
  CHECK(ends_us("rank\nsend 1 1 50000\nrank\nwait - 0 1\n") == Ends{60});
  const std::string received = "rank\nwait - 0 1\n";
  CHECK(ends_us("rank\nsend 1 1 50000\ncompute 99000000\n" + received, 0) == Ends{52, 151});
  CHECK(ends_us("rank\nbegin 1 1 50000\ncompute 9000000\nwait 0 -\ncompute 9000000\n" + received,
                0) == Ends{2, 11, 52, 61});
}

TEST_CASE("A wait takes messages as they arrive, and channels are apart") {
  const std::string sends = "rank\nsend 1 2 0\ncompute 50000000\nsend 1 1 0\nrank\n";
  CHECK(ends_us(sends + "wait - 0 1 0 2\n") == Ends{62});
  CHECK(ends_us(sends + "wait - 0 2\nwait - 0 1\n") == Ends{10, 62});
  CHECK(ends_us(sends + "wait - 0 1\nwait - 0 2\n") == Ends{62, 65});
}

TEST_CASE("An operation of known cost begins when those have come who are waited for") {
  const std::string first = "rank\ncompute 30000000\nmeet 7 2 ";
  CHECK(ends_us(first + "0 0 5000000\nrank\nmeet 7 2 0 0 6000000\n") == Ends{36});
  CHECK(ends_us(first + "1 1 5000000\nrank\nmeet 7 2 1 0 6000000\n") == Ends{36});
  CHECK(ends_us(first + "2 0 5000000\nrank\nmeet 7 2 0 1 6000000\n") == Ends{36});
  CHECK(ends_us(first + "0 1 5000000\nrank\nmeet 7 2 2 0 6000000\n", 0) == Ends{30, 35});
}

TEST_CASE("An operation goes as the messages of its algorithm, from any root") {
  memory_source = no_memory;
  const std::string broadcast = "perform bcast binomial 500 ";
  const auto by_both = [&](const std::string& root) {
    return "rank\n" + broadcast + root + " 0 1\nrank\n" + broadcast + root + " 0 1\n";
  };
  CHECK(ends_us(by_both("0")) == Ends{10.5});
  CHECK(ends_us(by_both("1"), 0) == Ends{10.5});
  CHECK_THROWS_AS(ends_us("rank\nperform bcast none 500 0 0 1\nrank\n"), InputError);
  memory_source = host_memory;
}

TEST_CASE("What is no program is refused, and so are ranks that wait for each other") {
  CHECK_THROWS_AS(ends_us("rank\n"), InputError);
  CHECK_THROWS_AS(ends_us("rank\nsing\nrank\n"), InputError);
  CHECK_THROWS_AS(ends_us("rank\nsend 1\nrank\n"), InputError);
  CHECK_THROWS_AS(ends_us("rank\nwait - 1 1\nrank\nwait - 0 1\n"), std::runtime_error);
}

}  // namespace nhalf
