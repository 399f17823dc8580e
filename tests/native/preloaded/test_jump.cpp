#include "preloaded/jump.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace {

using Word = std::uint64_t;

/// As many arguments as the longest call of MPI has: some are in registers, some on the stack.
#define NHALF_THIRTEEN \
  Word a, int b, Word c, int d, Word e, int f, Word g, int h, Word i, int j, Word k, int l, Word m

int weighted(NHALF_THIRTEEN) {
  const bool is_whole = a == ~Word{1} && c == ~Word{3} && e == ~Word{5} && g == ~Word{7} &&
                        i == ~Word{9} && k == ~Word{11} && m == ~Word{13};
  return is_whole ? b + 2 * d + 3 * f + 4 * h + 5 * j + 6 * l : -1;
}
int other(Word a, int b) {
  return a == ~Word{1} ? -b : -1;
}

int finds = 0;
const void* last_caller = nullptr;

nhalf::preloaded::Target once(nhalf::preloaded::EntryPoint& entry, const void* caller) {
  ++finds;
  last_caller = caller;
  return entry.target = entry.own;
}
nhalf::preloaded::Target by_turns(nhalf::preloaded::EntryPoint& entry, const void* /*caller*/) {
  ++finds;
  return finds % 2 == 0 ? entry.own : reinterpret_cast<nhalf::preloaded::Target>(&other);
}

}  // namespace

NHALF_JUMPS
NHALF_JUMP(nhalf_test_jump_once, &weighted, once)
NHALF_JUMP(nhalf_test_jump_by_turns, &other, by_turns)

extern "C" int nhalf_test_jump_once(NHALF_THIRTEEN);
extern "C" int nhalf_test_jump_by_turns(Word, int);

TEST_CASE("a jump leaves all arguments as they were, the first time and later") {
  finds = 0;
  for (int time = 0; time < 3; ++time) {
    const int answer = nhalf_test_jump_once(~Word{1}, 1, ~Word{3}, 2, ~Word{5}, 3, ~Word{7}, 4,
                                            ~Word{9}, 5, ~Word{11}, 6, ~Word{13});
    CHECK(answer == 1 + 4 + 9 + 16 + 25 + 36);
  }
  CHECK(finds == 1);
  CHECK(last_caller != nullptr);
}

TEST_CASE("a target that is not kept is asked for at each call") {
  finds = 0;
  for (int time = 0; time < 4; ++time) CHECK(nhalf_test_jump_by_turns(~Word{1}, 7) == -7);
  CHECK(finds == 4);
}
