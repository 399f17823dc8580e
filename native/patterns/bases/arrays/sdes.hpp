// Simplified DES: 8-bit blocks, 10-bit keys, two rounds; and its differential cryptanalysis: a key
// from pairs of chosen plain texts.
#pragma once

#include "contract/vocabulary.hpp"

/// E. F. Schaefer: A simplified Data Encryption Standard algorithm, Cryptologia 20 (1996), 77-84.
/// Positions in permutations count from 1 at the leftmost bit, as there.
namespace nhalf::sdes {
inline constexpr int keys = 1024;
inline constexpr int key_bits = 10;

inline constexpr int p10[] = {3, 5, 2, 7, 4, 10, 1, 9, 8, 6};
inline constexpr int p8[] = {6, 3, 7, 4, 8, 5, 10, 9};
inline constexpr int initial[] = {2, 6, 3, 1, 4, 8, 5, 7};
inline constexpr int last[] = {4, 1, 3, 5, 7, 2, 8, 6};
inline constexpr int expansion[] = {4, 1, 2, 3, 2, 3, 4, 1};
inline constexpr int p4[] = {2, 4, 3, 1};
/// By row (the outer bits of four) and column (the inner ones).
inline constexpr int s_boxes[2][4][4] = {{{1, 0, 3, 2}, {3, 2, 1, 0}, {0, 2, 1, 3}, {3, 1, 3, 2}},
                                         {{0, 1, 2, 3}, {2, 0, 1, 3}, {3, 0, 1, 0}, {2, 1, 0, 3}}};

/// The bits of a number of `bits` bits in another order.
template <std::size_t Count>
constexpr unsigned permuted(unsigned value, int bits, const int (&order)[Count]) {
  unsigned result = 0;
  for (const int position : order) result = result << 1 | (value >> (bits - position) & 1);
  return result;
}

/// The two output bits of an S-box for four input bits.
constexpr unsigned substituted(int box, unsigned input) {
  const auto row = (input >> 2 & 2) | (input & 1);
  const auto column = input >> 1 & 3;
  return static_cast<unsigned>(s_boxes[box][row][column]);
}

/// Both halves of ten bits turned left.
constexpr unsigned halves_turned(unsigned value, int by) {
  const auto turned = [by](unsigned half) { return (half << by | half >> (5 - by)) & 31; };
  return turned(value >> 5) << 5 | turned(value & 31);
}

constexpr unsigned first_subkey(unsigned key) {
  return permuted(halves_turned(permuted(key, key_bits, p10), 1), key_bits, p8);
}
constexpr unsigned second_subkey(unsigned key) {
  return permuted(halves_turned(permuted(key, key_bits, p10), 3), key_bits, p8);
}

/// Every value of a function of `Size` small numbers.
template <std::size_t Size, class Function>
constexpr auto tabulated(Function function) {
  std::array<std::uint8_t, Size> table{};
  for (unsigned i = 0; i < Size; ++i) table[i] = static_cast<std::uint8_t>(function(i));
  return table;
}

inline constexpr auto permuted_first =
    tabulated<256>([](unsigned x) { return permuted(x, 8, initial); });
inline constexpr auto permuted_last =
    tabulated<256>([](unsigned x) { return permuted(x, 8, last); });
inline constexpr auto expanded =
    tabulated<16>([](unsigned x) { return permuted(x, 4, expansion); });
/// What a round's function makes of its expanded input with the subkey in it.
inline constexpr auto confused = tabulated<256>([](unsigned x) {
  return permuted(substituted(0, x >> 4) << 2 | substituted(1, x & 15), 4, p4);
});
/// The output of both S-boxes by what P4 made of it.
inline constexpr auto before_p4 = [] {
  std::array<std::uint8_t, 16> table{};
  for (unsigned x = 0; x < 16; ++x) table[permuted(x, 4, p4)] = static_cast<std::uint8_t>(x);
  return table;
}();
inline constexpr auto first_subkeys = tabulated<keys>(first_subkey);
inline constexpr auto second_subkeys = tabulated<keys>(second_subkey);

constexpr std::uint8_t encrypted(unsigned key, std::uint8_t plain) {
  const unsigned begun = permuted_first[plain];
  const unsigned right = begun & 15;
  const unsigned left_half = begun >> 4 ^ confused[expanded[right] ^ first_subkeys[key]];
  // After the first round the halves change places; after the second they do not.
  const unsigned ended = right ^ confused[expanded[left_half] ^ second_subkeys[key]];
  return permuted_last[ended << 4 | left_half];
}
}  // namespace nhalf::sdes

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
