// Differential cryptanalysis of simplified DES: a key from pairs of chosen plain texts.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "patterns/bases/arrays/sdes.hpp"

/// E. Biham, A. Shamir: Differential cryptanalysis of DES-like cryptosystems, Journal of Cryptology
/// 4 (1991), 3-72, on two rounds.
namespace nhalf::sdes {

/// By S-box, difference of two inputs and difference of their outputs: the inputs x for which x and
/// x + difference have that, as a set of bits.
inline constexpr auto difference_pairs = [] {
  std::array<std::array<std::array<std::uint16_t, 4>, 16>, 2> table{};
  for (int box = 0; box < 2; ++box)
    for (unsigned difference = 0; difference < 16; ++difference)
      for (unsigned x = 0; x < 16; ++x) {
        const auto out = substituted(box, x) ^ substituted(box, x ^ difference);
        auto& inputs = table[static_cast<std::size_t>(box)][difference][out];
        inputs = static_cast<std::uint16_t>(inputs | 1U << x);
      }
  return table;
}();

/// How often an input difference of an S-box becomes an output difference, of 16.
constexpr int distribution(int box, unsigned in, unsigned out) {
  return std::popcount(difference_pairs[static_cast<std::size_t>(box)][in][out]);
}

/// Every member of a set of four-bit numbers with some bits turned around.
constexpr std::uint16_t turned_around(std::uint16_t set, unsigned bits) {
  unsigned result = set;
  if ((bits & 1) != 0) result = (result & 0xAAAA) >> 1 | (result & 0x5555) << 1;
  if ((bits & 2) != 0) result = (result & 0xCCCC) >> 2 | (result & 0x3333) << 2;
  if ((bits & 4) != 0) result = (result & 0xF0F0) >> 4 | (result & 0x0F0F) << 4;
  if ((bits & 8) != 0) result = (result & 0xFF00) >> 8 | (result & 0x00FF) << 8;
  return static_cast<std::uint16_t>(result);
}

/// The four keys that have a second subkey in common.
inline constexpr auto keys_of_subkey = [] {
  std::array<std::array<std::uint16_t, 4>, 256> table{};
  std::array<std::size_t, 256> outputs{};
  for (unsigned key = 0; key < keys; ++key) {
    const auto subkey = second_subkeys[key];
    table[subkey][outputs[subkey]++] = static_cast<std::uint16_t>(key);
  }
  return table;
}();

inline constexpr int pairs_most = 64;

/// Plain text `which` (0 or 1) of pair number `pair`. The two differ in their left half alone, so
/// that the difference passes the first round unchanged, whatever the key.
constexpr std::uint8_t chosen_plain(int pair, int member) {
  const auto number = static_cast<unsigned>(pair);
  const auto difference = member == 0 ? 0 : 1 + number % 15;
  const auto left_half = (number * 7 ^ difference) & 15;
  const auto right = (number * 11 + number / 16) & 15;
  return permuted_last[left_half << 4 | right];
}

/// The inputs of an S-box that have two differences, by the table that the compiler knows.
struct ConstantPairs {
  std::uint16_t operator()(std::size_t box, unsigned in, unsigned out) const {
    return difference_pairs[box][in][out];
  }
};

/// The inputs of an S-box that have two differences, by tables of bytes: of pairs by pointers of
/// any kind, of distributions, which says what leaves all inputs and need not be looked up.
template <class Pairs, class Counts>
struct TabledPairs {
  Pairs pairs;
  Counts counts;

  TabledPairs(Pairs of_pairs, Counts of_counts) : pairs(of_pairs), counts(of_counts) {}

  std::uint16_t operator()(std::size_t box, unsigned in, unsigned out) const {
    const auto row = box << 4 | in;
    const std::uint16_t count = counts[static_cast<std::ptrdiff_t>(row << 2 | out)];
    if (count == 16) return 0xFFFF;
    auto entry = pairs + static_cast<std::ptrdiff_t>(row << 4);
    unsigned inputs = 0;
    for (unsigned x = 0; x < 16; ++x, ++entry) {
      const std::uint8_t difference = *entry;
      inputs |= (difference == out ? 1U : 0U) << x;
    }
    return static_cast<std::uint16_t>(inputs);
  }
};

/// The second subkeys that agree with the cipher texts seen so far: for each S-box a set of
/// four-bit halves.
class SubkeyCandidates {
 public:
  template <class Inputs = ConstantPairs>
  void learn(std::uint8_t first_output, std::uint8_t second_output, const Inputs& inputs = {}) {
    const unsigned ended = permuted_first[first_output];
    const unsigned difference = ended ^ permuted_first[second_output];
    const unsigned expanded_input = expanded[ended & 15];
    const unsigned in = expanded[difference & 15];
    const unsigned out = before_p4[difference >> 4];
    halves_[0] &= turned_around(inputs(0, in >> 4, out >> 2), expanded_input >> 4);
    halves_[1] &= turned_around(inputs(1, in & 15, out & 3), expanded_input & 15);
  }
  [[nodiscard]] bool holds(unsigned subkey) const {
    return (halves_[0] >> (subkey >> 4) & 1) != 0 && (halves_[1] >> (subkey & 15) & 1) != 0;
  }
  [[nodiscard]] int count() const { return std::popcount(halves_[0]) * std::popcount(halves_[1]); }

 private:
  std::array<std::uint16_t, 2> halves_{0xFFFF, 0xFFFF};
};

/// The key under which pairs of chosen plain texts have the cipher texts that `next` gives, one
/// after the other; none where none has. `inputs` looks up the tables of differences.
template <class Next, class Inputs = ConstantPairs>
std::optional<unsigned> recovered(int pairs, Next next, const Inputs& inputs = {}) {
  std::array<std::uint8_t, 2 * pairs_most> ciphertexts{};
  SubkeyCandidates candidates;
  for (std::size_t pair = 0; pair < static_cast<std::size_t>(pairs); ++pair) {
    ciphertexts[2 * pair] = next();
    ciphertexts[2 * pair + 1] = next();
    candidates.learn(ciphertexts[2 * pair], ciphertexts[2 * pair + 1], inputs);
  }
  const auto explains = [&](unsigned key) {
    for (int i = 0; i < 2 * pairs; ++i)
      if (encrypted(key, chosen_plain(i / 2, i % 2)) != ciphertexts[static_cast<std::size_t>(i)])
        return false;
    return true;
  };
  for (unsigned subkey = 0; subkey < 256; ++subkey) {
    if (!candidates.holds(subkey)) continue;
    for (const auto key : keys_of_subkey[subkey])
      if (explains(key)) return key;
  }
  return std::nullopt;
}

}  // namespace nhalf::sdes
