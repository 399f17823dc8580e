#include "patterns/bases/traffic/ring_layout.hpp"

#include <doctest/doctest.h>

using nhalf::Arena;

TEST_CASE("messages follow each other on multiples of 8 bytes and begin again at the front") {
  Arena arena;
  arena.use(32);
  const auto* front = arena.bytes().data();
  CHECK(arena.next(5).data() == front);
  CHECK(arena.next(8).data() == front + 8);
  CHECK(arena.next(9).data() == front + 16);
  CHECK(arena.next(1).data() == front);
  CHECK(arena.next(32).data() == front);
  CHECK(arena.next(0).size() == 0);
}

TEST_CASE("another size goes on from the same place, as far as there is room") {
  Arena arena;
  arena.use(64);
  arena.next(40);
  arena.use(128);
  CHECK(arena.next(8).data() == arena.bytes().data() + 40);
  arena.use(16);
  CHECK(arena.bytes().size() == 16);
  CHECK(arena.next(8).data() == arena.bytes().data());
}

TEST_CASE("an arena of nothing has places for nothing") {
  Arena arena;
  arena.use(0);
  CHECK(arena.next(0).empty());
  CHECK(arena.next(0).empty());
}

TEST_CASE("too much memory is refused, and what there was can be asked for again") {
  Arena arena;
  arena.use(8);
  CHECK_THROWS_AS(arena.use(nhalf::Buffer::largest_bytes() + 1), std::bad_alloc);
  arena.use(8);
  CHECK(arena.next(8).size() == 8);
}

TEST_CASE("ranks and numbers have arenas of their own, always the same") {
  CHECK(&Arena::of(0, 0) == &Arena::of(0, 0));
  CHECK(&Arena::of(0, 0) != &Arena::of(1, 0));
  CHECK(&Arena::of(0, 0) != &Arena::of(0, 1));
}
