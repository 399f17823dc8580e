#include "patterns/bases/traffic/destinations.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace nhalf;
using Ranks = std::vector<int>;

namespace {

Destinations made(int ranks, const std::string& axes, std::span<const int> hosts = {}) {
  return {ranks, Case{.axes = Options::parse(axes, ','), .hosts = hosts}};
}

}  // namespace

TEST_CASE("uniform: everybody but oneself, also where nothing is said") {
  CHECK(made(4, "").of(2) == Ranks{0, 1, 3});
  CHECK(made(3, "to=uniform").taking_part() == 3);
  CHECK(made(1, "").of(0).empty());
}

TEST_CASE("permutations: ranks beyond the power of two and those left in place send nothing") {
  const auto reversal = made(11, "to=bit-reversal");
  CHECK(reversal.taking_part() == 8);
  CHECK(reversal.of(1) == Ranks{4});
  CHECK(reversal.of(2).empty());
  CHECK(reversal.of(8).empty());
  for (const int rank : {0, 1, 2}) CHECK(made(2, "to=shuffle").of(rank).empty());
  CHECK(made(1, "to=complement").of(0).empty());
}

TEST_CASE("the distance is the value of the stage's bit, that of the highest where none is given") {
  CHECK(made(8, "to=cube").of(5) == Ranks{1});
  CHECK(made(8, "to=cube,distance=highest").of(5) == Ranks{1});
  CHECK(made(8, "to=cube,distance=1").of(5) == Ranks{4});
  CHECK(made(8, "to=cube,distance=2").of(5) == Ranks{7});
  CHECK(made(8, "to=butterfly").of(1) == Ranks{4});
  CHECK(made(8, "to=baseline").of(1) == Ranks{4});
  CHECK(made(8, "to=baseline,distance=2").of(5) == Ranks{6});
}

TEST_CASE("all stages follow one another") {
  // Every bit is flipped, which is the complement.
  for (int rank = 0; rank < 8; ++rank)
    CHECK(made(8, "to=cube,distance=all").of(rank) == made(8, "to=complement").of(rank));
  // b2 b1 b0: bits 1 and 0 change places, then 2 and 0: b0 b2 b1 is what was b2 b1 b0.
  CHECK(made(8, "to=butterfly,distance=all").of(0b001) == Ranks{0b010});
  CHECK(made(8, "to=butterfly,distance=all").of(0b010) == Ranks{0b100});
  CHECK(made(8, "to=butterfly,distance=all").of(0b100) == Ranks{0b001});
  // The low two rotate right, then all three: 001 -> 010 -> 001 stays, 011 -> 011 -> 101.
  CHECK(made(8, "to=baseline,distance=all").of(0b001).empty());
  CHECK(made(8, "to=baseline,distance=all").of(0b011) == Ranks{0b101});
}

TEST_CASE("a distance that is no stage is refused") {
  for (const auto* axes :
       {"to=cube,distance=0", "to=cube,distance=3", "to=cube,distance=8", "to=butterfly,distance=1",
        "to=baseline,distance=1", "to=uniform,distance=4", "to=shuffle,distance=1",
        "to=cube,distance=-1", "to=nowhere", "scope=here", "to=cube,distance=4294967296"}) {
    CAPTURE(axes);
    CHECK_THROWS_AS(made(8, axes), InputError);
  }
  CHECK_THROWS_AS(made(1, "to=cube"), InputError);
  for (const int ranks : {1, 2, 3}) CHECK_THROWS_AS(made(ranks, "to=butterfly"), InputError);
  CHECK_THROWS_AS(made(8, "to=complement,distance=all"), InputError);
  CHECK(made(15, "to=cube,distance=4").of(0) == Ranks{4});
  CHECK_THROWS_AS(made(15, "to=cube,distance=8"), InputError);
}

TEST_CASE("scope: ranks of the same host, or of others") {
  const Ranks hosts{0, 0, 1, 1, 1};
  CHECK(made(5, "scope=on-node", hosts).of(3) == Ranks{2, 4});
  CHECK(made(5, "scope=off-node", hosts).of(3) == Ranks{0, 1});
  CHECK(made(5, "to=neighbour,scope=on-node", hosts).of(0) == Ranks{1});
  CHECK(made(5, "to=neighbour,scope=off-node", hosts).of(0).empty());
  CHECK(made(5, "to=complement,scope=off-node", hosts).of(0) == Ranks{3});
  CHECK(made(5, "scope=off-node").of(0).empty());
  CHECK(made(5, "scope=on-node").of(0) == Ranks{1, 2, 3, 4});
}
