#include "patterns/bases/arrays/sdes.hpp"

#include <doctest/doctest.h>

#include <set>
#include <vector>

namespace sdes = nhalf::sdes;

namespace {

/// The cipher texts of the chosen pairs under a key.
std::vector<std::uint8_t> seen_under(unsigned key, int pairs) {
  std::vector<std::uint8_t> seen;
  for (int i = 0; i < 2 * pairs; ++i)
    seen.push_back(sdes::encrypted(key, sdes::chosen_plain(i / 2, i % 2)));
  return seen;
}

std::optional<unsigned> recovered_from(const std::vector<std::uint8_t>& seen) {
  auto at = seen.begin();
  return sdes::recovered(static_cast<int>(seen.size()) / 2, [&at] { return *at++; });
}

}  // namespace

TEST_CASE("the differential distribution tables are those of the S-boxes") {
  constexpr int tables[2][16][4] = {{{16, 0, 0, 0},
                                     {0, 2, 10, 4},
                                     {0, 10, 6, 0},
                                     {2, 4, 0, 10},
                                     {2, 4, 8, 2},
                                     {10, 0, 4, 2},
                                     {0, 2, 2, 12},
                                     {4, 10, 2, 0},
                                     {2, 4, 8, 2},
                                     {8, 2, 2, 4},
                                     {4, 2, 2, 8},
                                     {2, 8, 4, 2},
                                     {8, 2, 2, 4},
                                     {2, 4, 8, 2},
                                     {2, 8, 4, 2},
                                     {4, 2, 2, 8}},
                                    {{16, 0, 0, 0},
                                     {2, 8, 2, 4},
                                     {0, 6, 4, 6},
                                     {4, 2, 8, 2},
                                     {2, 0, 10, 4},
                                     {2, 4, 2, 8},
                                     {0, 10, 0, 6},
                                     {8, 2, 4, 2},
                                     {4, 6, 0, 6},
                                     {8, 2, 4, 2},
                                     {2, 0, 10, 4},
                                     {0, 6, 4, 6},
                                     {0, 6, 4, 6},
                                     {6, 0, 6, 4},
                                     {10, 4, 2, 0},
                                     {2, 8, 2, 4}}};
  for (int box = 0; box < 2; ++box)
    for (unsigned in = 0; in < 16; ++in)
      for (unsigned out = 0; out < 4; ++out)
        CHECK(sdes::distribution(box, in, out) == tables[box][in][out]);
}

TEST_CASE("the pair tables hold both inputs of every pair") {
  CHECK(sdes::difference_pairs[0][3][0] == (1 << 13 | 1 << 14));
  CHECK(sdes::difference_pairs[1][1][2] == (1 << 0 | 1 << 1));
  CHECK(sdes::difference_pairs[0][0xF][1] == (1 << 6 | 1 << 9));
}

TEST_CASE("sets with bits turned around") {
  for (unsigned bits = 0; bits < 16; ++bits)
    for (unsigned x = 0; x < 16; ++x)
      CHECK(sdes::turned_around(static_cast<std::uint16_t>(1U << x), bits) == 1U << (x ^ bits));
}

TEST_CASE("chosen pairs differ after the first permutation in the left half alone") {
  std::set<unsigned> differences;
  for (int pair = 0; pair < sdes::pairs_most; ++pair) {
    const auto difference = sdes::permuted_first[sdes::chosen_plain(pair, 0)] ^
                            sdes::permuted_first[sdes::chosen_plain(pair, 1)];
    CHECK((difference & 15) == 0);
    CHECK(difference != 0);
    differences.insert(static_cast<unsigned>(difference));
  }
  CHECK(differences.size() == 15);
}

TEST_CASE("all keys are recovered, and the true subkey is always among the candidates") {
  for (const int pairs : {8, 16, 64}) {
    int right = 0;
    int subkeys = 0;
    for (unsigned key = 0; key < sdes::keys; ++key) {
      const auto seen = seen_under(key, pairs);
      right += recovered_from(seen) == key ? 1 : 0;
      sdes::SubkeyCandidates candidates;
      for (std::size_t i = 0; i < seen.size(); i += 2) candidates.learn(seen[i], seen[i + 1]);
      CHECK(candidates.holds(sdes::second_subkeys[key]));
      subkeys += candidates.count();
    }
    CAPTURE(pairs);
    CHECK(right == sdes::keys);
    // The differences alone leave one subkey where there are enough of them.
    if (pairs == 64) CHECK(subkeys == sdes::keys);
  }
}

TEST_CASE("cipher texts of no key are no key's") {
  auto seen = seen_under(77, 16);
  seen[5] ^= 1;
  CHECK_FALSE(recovered_from(seen).has_value());
}
