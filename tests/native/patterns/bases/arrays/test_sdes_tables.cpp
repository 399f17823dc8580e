#include "patterns/bases/arrays/sdes_tables.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace sdes = nhalf::sdes;

namespace {

std::vector<std::uint8_t> pairs_of(const sdes::Tabled& of) {
  std::vector<std::uint8_t> pairs(of.pairs());
  sdes::fill_pairs(of, 0, pairs.size(), of.values.data(), pairs.data());
  return pairs;
}

std::vector<std::uint16_t> counts_of(const sdes::Tabled& of) {
  const auto pairs = pairs_of(of);
  std::vector<std::uint16_t> counts(of.counts(), 0xFFFF);
  sdes::count_pairs(of, of.rows(), pairs.data(), counts.data());
  return counts;
}

constexpr const sdes::Tabled* both[] = {&sdes::s_boxes_tabled, &sdes::round_tabled};

}  // namespace

TEST_CASE("tables of differences have a row for every function and difference of inputs") {
  CHECK(sdes::s_boxes_tabled.rows() == 32);
  CHECK(sdes::s_boxes_tabled.pairs() == 512);
  CHECK(sdes::s_boxes_tabled.counts() == 128);
  CHECK(sdes::round_tabled.rows() == 256);
  CHECK(sdes::round_tabled.pairs() == 65536);
  CHECK(sdes::round_tabled.counts() == 4096);
}

TEST_CASE("the table of pairs has the difference of outputs for each input") {
  const auto pairs = pairs_of(sdes::s_boxes_tabled);
  // S0 of 13 and 14 is that of 13 ^ 3 and 14 ^ 3; of S1 and 1 the inputs 0 and 1 give 2.
  for (unsigned x = 0; x < 16; ++x) {
    CHECK((pairs[3 * 16 + x] == 0) == (x == 13 || x == 14));
    CHECK((pairs[(16 + 1) * 16 + x] == 2) == (x == 0 || x == 1));
  }
  for (const auto* of : both) {
    const auto all = pairs_of(*of);
    bool right = true;
    for (std::size_t i = 0; i < all.size(); ++i) right = right && sdes::is_pair(*of, i, all[i]);
    CHECK(right);
  }
}

TEST_CASE("every wrong entry of the table of pairs is found") {
  for (const auto* of : both) {
    const auto pairs = pairs_of(*of);
    for (std::size_t i = 0; i < pairs.size(); i += 37)
      for (const unsigned wrong : {1U, 2U, 3U, 0xF0U, 0xFFU})
        CHECK_FALSE(sdes::is_pair(*of, i, pairs[i] ^ wrong));
  }
}

TEST_CASE("a part of the table of pairs may begin and end inside of rows") {
  const auto& of = sdes::s_boxes_tabled;
  const auto all = pairs_of(of);
  for (const std::size_t first : {0UL, 5UL, 15UL, 16UL, 300UL})
    for (const std::size_t count : {0UL, 1UL, 12UL, 100UL}) {
      std::vector<std::uint8_t> part(count);
      sdes::fill_pairs(of, first, count, of.values.data(), part.data());
      CHECK(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(first)));
    }
}

TEST_CASE("tables of distributions: entries, sums of rows, and the best of a round") {
  for (const auto* of : both) {
    auto counts = counts_of(*of);
    CHECK(sdes::are_counts(*of, 0, counts));
    // Two errors that leave the sum of a row.
    ++counts[of->outputs() + 1];
    --counts[of->outputs() + 2];
    CHECK_FALSE(sdes::are_counts(*of, 0, counts));
  }
  const auto boxes = counts_of(sdes::s_boxes_tabled);
  CHECK(boxes[0] == 16);
  CHECK(boxes[6 * 4 + 3] == 12);
  CHECK(boxes[(16 + 14) * 4] == 10);
  // The difference 0010 of the right half becomes 0011 in 100 of 256, the most of all.
  const auto round = counts_of(sdes::round_tabled);
  const auto in = sdes::expanded[0b0010];
  CHECK(round[in * 16U + 0b0011] == 100);
  int most = 0;
  for (unsigned right = 1; right < 16; ++right)
    for (unsigned out = 0; out < 16; ++out)
      most = std::max<int>(most, round[sdes::expanded[right] * 16U + out]);
  CHECK(most == 100);
}

TEST_CASE("the attack looks up the tables that it is given") {
  const auto pairs = pairs_of(sdes::s_boxes_tabled);
  const auto counts = counts_of(sdes::s_boxes_tabled);
  const sdes::TabledPairs inputs(pairs.data(), counts.data());
  for (std::size_t box = 0; box < 2; ++box)
    for (unsigned in = 0; in < 16; ++in)
      for (unsigned out = 0; out < 4; ++out)
        CHECK(inputs(box, in, out) == sdes::difference_pairs[box][in][out]);
  const auto recovered = [&](const auto& looked_up) {
    int text = 0;
    const auto next = [&text] {
      const auto plain = sdes::chosen_plain(text / 2, text % 2);
      ++text;
      return sdes::encrypted(77, plain);
    };
    return sdes::recovered(16, next, looked_up);
  };
  CHECK(recovered(inputs) == 77);
  const std::vector<std::uint8_t> wrong(pairs.size(), 0xFF);
  CHECK_FALSE(recovered(sdes::TabledPairs(wrong.data(), counts.data())).has_value());
}
