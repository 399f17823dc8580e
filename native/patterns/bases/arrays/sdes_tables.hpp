// Tables of differences of simplified DES, built by any kind of pointer.
#pragma once

#include "contract/pattern.hpp"
#include "patterns/bases/arrays/sdes.hpp"

namespace nhalf::sdes {
/// Functions whose differences are tabled, all of `1 << in_bits` inputs and `1 << out_bits`
/// outputs. Their values lie one after the other.
struct Tabled {
  std::span<const std::uint8_t> values;
  std::size_t functions;
  int in_bits;
  int out_bits;

  [[nodiscard]] std::size_t inputs() const { return std::size_t{1} << in_bits; }
  [[nodiscard]] std::size_t outputs() const { return std::size_t{1} << out_bits; }
  /// A row for every function and difference of inputs.
  [[nodiscard]] std::size_t rows() const { return functions << in_bits; }
  /// Entries of the table of pairs: a column for every input.
  [[nodiscard]] std::size_t pairs() const { return rows() << in_bits; }
  /// Entries of the table of distributions: a column for every difference of outputs.
  [[nodiscard]] std::size_t counts() const { return rows() << out_bits; }

  bool operator==(const Tabled& table) const { return in_bits == table.in_bits; }
};

inline constexpr auto both_boxes =
    tabulated<32>([](unsigned i) { return substituted(static_cast<int>(i >> 4), i & 15); });

/// The S-boxes, each alone.
inline constexpr Tabled s_boxes_tabled{both_boxes, 2, 4, 2};
/// What a round makes of eight bits: both S-boxes at once, then P4.
inline constexpr Tabled round_tabled{confused, 1, 8, 4};

inline constexpr std::array<std::string_view, 2> tabled_names{"s-boxes", "round"};
inline constexpr AxisInfo tabled_axis{
    "of", "s-boxes", "s-boxes",
    "s-boxes: each of the two alone; round: both with the permutation behind them"};

/// Throws InputError for an unknown function.
inline const Tabled& tabled_of(const Case& point) {
  return point.choice("of", tabled_names) == 0 ? s_boxes_tabled : round_tabled;
}

/// Sets `count` entries of the table of pairs from number `first` on: for each difference of inputs
/// and each input, the difference of the outputs.
template <class Values, class To>
void fill_pairs(const Tabled& of, std::size_t first, std::size_t count, Values values, To to) {
  while (count > 0) {
    const auto row = first >> of.in_bits;
    const auto difference = row & (of.inputs() - 1);
    const auto function = values + static_cast<std::ptrdiff_t>(row - difference);
    const auto x = first & (of.inputs() - 1);
    const auto length = std::min(count, of.inputs() - x);
    for (auto i = x; i < x + length; ++i, ++to)
      *to = static_cast<std::uint8_t>(function[static_cast<std::ptrdiff_t>(i)] ^
                                      function[static_cast<std::ptrdiff_t>(i ^ difference)]);
    first += length;
    count -= length;
  }
}

/// Sets `rows` rows of the table of distributions: how many pairs of a row have each difference of
/// outputs.
template <class Pairs, class To>
void count_pairs(const Tabled& of, std::size_t rows, Pairs pairs, To to) {
  const auto outputs = static_cast<std::ptrdiff_t>(of.outputs());
  for (; rows > 0; --rows) {
    for (std::ptrdiff_t out = 0; out < outputs; ++out) to[out] = std::uint16_t{0};
    for (auto remaining = of.inputs(); remaining > 0; --remaining, ++pairs) {
      const std::uint8_t out = *pairs;
      to[out] = static_cast<std::uint16_t>(to[out] + 1);
    }
    to += outputs;
  }
}

/// Whether an entry of the table of pairs is right, by the sets of inputs of the S-boxes.
inline bool is_pair(const Tabled& of, std::size_t entry, unsigned out) {
  const auto x = static_cast<unsigned>(entry & (of.inputs() - 1));
  const auto row = entry >> of.in_bits;
  const auto difference = row & (of.inputs() - 1);
  const auto has = [](std::size_t box, std::size_t in, unsigned outputs, unsigned input) {
    return (difference_pairs[box][in][outputs] >> input & 1) != 0;
  };
  if (of == s_boxes_tabled) return out < 4 && has(row >> of.in_bits, difference, out, x);
  if (out >= 16) return false;
  const unsigned pair_of_outputs = before_p4[out];
  return has(0, difference >> 4, pair_of_outputs >> 2, x >> 4) &&
         has(1, difference & 15, pair_of_outputs & 3, x & 15);
}

/// What an entry of the table of distributions has to be. S-boxes have nothing to do with each
/// other: of a round it is the product of theirs.
inline int distribution(const Tabled& of, std::size_t entry) {
  const auto out = static_cast<unsigned>(entry & (of.outputs() - 1));
  const auto row = static_cast<unsigned>(entry >> of.out_bits);
  if (of == s_boxes_tabled) return distribution(static_cast<int>(row >> 4), row & 15, out);
  const unsigned pair_of_outputs = before_p4[out];
  return distribution(0, row >> 4, pair_of_outputs >> 2) *
         distribution(1, row & 15, pair_of_outputs & 3);
}

/// Whether rows of the table of distributions are right, and each has all inputs.
inline bool are_counts(const Tabled& of, std::size_t first_row,
                       std::span<const std::uint16_t> counts) {
  for (std::size_t i = 0; i < counts.size(); i += of.outputs()) {
    std::size_t sum = 0;
    for (auto entry = i; entry < i + of.outputs(); ++entry) {
      if (counts[entry] != distribution(of, (first_row << of.out_bits) + entry)) return false;
      sum += counts[entry];
    }
    if (sum != of.inputs()) return false;
  }
  return true;
}
}  // namespace nhalf::sdes
