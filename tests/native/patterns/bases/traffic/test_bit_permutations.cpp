// The definitions stated once more, on strings of bits: the highest bit comes first.
#include "patterns/bases/traffic/destinations.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

using namespace nhalf;

namespace {

std::string written(unsigned rank, int bits) {
  std::string text;
  for (unsigned value = 1U << (bits - 1); value > 0; value /= 2)
    text += rank / value % 2 == 1 ? '1' : '0';
  return text;
}

std::string flipped(std::string text, std::size_t place) {
  text[place] = text[place] == '1' ? '0' : '1';
  return text;
}

/// Where a rule sends, by text; `stage` counts from the end of the text.
std::string expected(std::string_view rule, const std::string& from, std::size_t stage) {
  const auto bits = from.size();
  std::string to = from;
  if (rule == "bit-reversal") return {from.rbegin(), from.rend()};
  if (rule == "butterfly") std::swap(to[bits - 1 - stage], to[bits - 1]);
  if (rule == "complement")
    for (std::size_t i = 0; i < bits; ++i) to = flipped(to, i);
  if (rule == "transpose") {
    const auto row_bits = (bits + 1) / 2;
    to = from.substr(row_bits) + from.substr(0, row_bits);
  }
  if (rule == "shuffle") to = from.substr(1) + from[0];
  if (rule == "neighbour") to = flipped(from, bits - 1);
  if (rule == "cube") to = flipped(from, bits - 1 - stage);
  if (rule == "baseline") {
    const auto kept = bits - 1 - stage;
    to = from.substr(0, kept) + from.back() + from.substr(kept, stage);
  }
  return to;
}

}  // namespace

TEST_CASE("every rule is what its definition says, a permutation, for 2 to 64 ranks") {
  std::set<std::string_view> names;
  for (const auto& rule : bit_permutations::rules) {
    names.insert(rule.name);
    for (int bits = 1; bits <= 6; ++bits)
      for (int stage = std::max(0, rule.first_stage); stage < (rule.first_stage < 0 ? 1 : bits);
           ++stage) {
        CAPTURE(rule.name);
        CAPTURE(bits);
        CAPTURE(stage);
        std::set<unsigned> reached;
        for (unsigned rank = 0; rank < 1U << bits; ++rank) {
          const auto to = rule.of(rank, bits, stage);
          reached.insert(to);
          CHECK(written(to, bits) ==
                expected(rule.name, written(rank, bits), static_cast<std::size_t>(stage)));
        }
        CHECK(reached.size() == 1U << bits);
        CHECK(*reached.rbegin() == (1U << bits) - 1);
      }
  }
  CHECK(names.size() == 8);
}

TEST_CASE("some rules lead back where they came from, the others do not") {
  for (const auto& rule : bit_permutations::rules)
    for (int bits = 3; bits <= 6; ++bits) {
      CAPTURE(rule.name);
      CAPTURE(bits);
      bool back = true;
      for (unsigned rank = 0; rank < 1U << bits; ++rank)
        back = back && rule.of(rule.of(rank, bits, 2), bits, 2) == rank;
      const bool turns = rule.name == "shuffle" || rule.name == "baseline" ||
                         (rule.name == "transpose" && bits % 2 == 1);
      CHECK(back == !turns);
    }
}

TEST_CASE("ranks that take part: the largest power of two") {
  constexpr int bits[] = {0, 1, 1, 2, 2, 2, 2, 3, 3};
  for (int ranks = 1; ranks <= 9; ++ranks) CHECK(rank_bits(ranks) == bits[ranks - 1]);
  CHECK(rank_bits(1023) == 9);
  CHECK(rank_bits(1024) == 10);
}
