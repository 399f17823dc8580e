#include "interposer/recent.hpp"

#include <doctest/doctest.h>

#include <set>

TEST_CASE("handles that take turns have places of their own, numbers or addresses") {
  nhalf::coll::Recent<int> numbers;
  std::set<int*> places;
  for (unsigned handle = 0; handle < 8; ++handle) places.insert(&numbers.place_of(handle));
  CHECK(places.size() == 8);
  struct alignas(64) Object {
    char bytes[192];
  };
  static const Object objects[2]{};
  CHECK(&numbers.place_of(&objects[0]) != &numbers.place_of(&objects[1]));
  CHECK(&numbers.place_of(&objects[0]) == &numbers.place_of(&objects[0]));
}
