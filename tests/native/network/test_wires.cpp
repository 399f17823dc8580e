#include "network/wires.hpp"

#include <doctest/doctest.h>

namespace {

using nhalf::network::Wires;

constexpr const char* machine =
    "nodes 0 0 1 5\n"
    "computing 2500\n"
    "wire 0 100 200 50\n"
    "part 0 1000 2000000 0\n"
    "wire 1 1000 1000 0\n"
    "part 0 5000 1000000 0\n"
    "part 100 6000 1000000 0\n"
    "part 1000 -100000 300000000 0\n"
    "wire 3 1000 1000 0\n"
    "part 0 9000 0 3000000\n";

TEST_CASE("half a round trip is the curve of the distance") {
  const auto wires = Wires::read(machine);
  REQUIRE(wires);
  CHECK(wires->ranks() == 4);
  CHECK(wires->computing_permille == 2500);
  CHECK(wires->between(0, 1).time(10) == 1020);
  CHECK(wires->between(0, 2).time(99) == 5099);
  CHECK(wires->between(2, 0).time(100) == 6100);
  CHECK(wires->between(0, 3).time(16) == 9012);
  const auto& wire = wires->between(1, 2);
  CHECK(wire.send + wire.transit(100) + wire.receive == wire.time(100));
}

TEST_CASE("bytes keep the way as long as they take, not longer than their message") {
  const auto wires = Wires::read(machine);
  REQUIRE(wires);
  CHECK(wires->between(0, 1).busy_out(0) == 50);
  CHECK(wires->between(0, 1).busy_out(100) == 200);
  CHECK(wires->between(0, 2).busy_out(50) == 50);
  // A jump of the curve is no time of the bytes.
  CHECK(wires->between(0, 2).busy_out(100) == 100);
  // The last part begins below 0: 300 per byte would be more than the message takes.
  CHECK(wires->between(0, 2).busy_out(1000) == 200'000 - 5000);
}

TEST_CASE("messages are as far apart as was seen, and slowed by those the other way") {
  const auto wires = Wires::read(
      "nodes 0 1\nwire 0 10 10 5\npart 0 100 1000000 0\n"
      "out 0 20 3000000 0\nin 0 30 2000000 0\nboth 0 90 1500000 0\n");
  REQUIRE(wires);
  const auto& wire = wires->between(0, 1);
  CHECK(wire.busy_out(10) == 50);
  CHECK(wire.busy_in(10) == 50);
  CHECK(wire.against(10) == 1);
  CHECK(wire.against(100) == 40);
}

TEST_CASE("a message takes its overheads at least") {
  const auto wires = Wires::read("nodes 0 1\nwire 0 700 700 0\npart 0 1000 0 0\n");
  REQUIRE(wires);
  CHECK(wires->between(0, 1).time(0) == 1400);
  CHECK(wires->between(0, 1).transit(0) == 0);
}

TEST_CASE("what is no machine is not read") {
  for (const char* text : {"", "nodes 0 1\n", "nodes 0 1\nwire 0 1 1 0\n", "part 0 1 1 1\n",
                           "nodes 0\nwire 0 1 x 0\npart 0 1 1 0\n", "something\n"})
    CHECK_FALSE(Wires::read(text));
}

}  // namespace
