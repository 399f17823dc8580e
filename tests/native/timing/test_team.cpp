#include "timing/global_clock.hpp"

#include <doctest/doctest.h>

using nhalf::Team;

TEST_CASE("ranks that follow each other are the same as a list of them") {
  for (const auto& team : {Team::from_to(3, 6), Team(std::vector<int>{3, 4, 5})}) {
    REQUIRE(team.size() == 3);
    CHECK(team[0] == 3);
    CHECK(team[2] == 5);
    CHECK(team.place_of(4) == 1);
    CHECK(!team.place_of(2));
    CHECK(!team.place_of(6));
  }
}

TEST_CASE("ranks far from each other have places in their order") {
  const Team team(std::vector<int>{0, 4, 9});
  CHECK(team.place_of(9) == 2);
  CHECK(!team.place_of(5));
  CHECK(Team().empty());
}
