// Simplified DES: 8-bit blocks, 10-bit keys, two rounds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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
