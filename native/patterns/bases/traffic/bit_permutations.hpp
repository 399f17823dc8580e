// Permutations of ranks that are known by name: to whom each rank sends.
//
// The bits of a rank are numbered from 0, the lowest. Definitions as in J. Duato, S. Yalamanchili,
// L. Ni: Interconnection Networks, an Engineering Approach, Morgan Kaufmann 2003.
#pragma once

#include <bit>
#include <string_view>

namespace nhalf {

/// The bits of the ranks that take part in a permutation: the largest 2^bits that is not above
/// `ranks` of them do, from rank 0 on; the others idle.
constexpr int rank_bits(int ranks) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 1;
}

namespace bit_permutations {

/// The low `bits` bits moved down by `by` places, those that fall out come in at the top.
constexpr unsigned rotated_right(unsigned rank, int bits, int by) {
  const unsigned mask = (1U << bits) - 1;
  const unsigned low = rank & mask;
  return (rank & ~mask) | (low >> by) | (low << (bits - by) & mask);
}

constexpr unsigned bit_reversal(unsigned rank, int bits, int) {
  unsigned reversed = 0;
  for (int bit = 0; bit < bits; ++bit) reversed |= (rank >> bit & 1U) << (bits - 1 - bit);
  return reversed;
}

/// Bits `stage` and 0 change places.
constexpr unsigned butterfly(unsigned rank, int, int stage) {
  const unsigned differ = (rank >> stage ^ rank) & 1U;
  return rank ^ (differ << stage) ^ differ;
}

/// Every bit is flipped.
constexpr unsigned complement(unsigned rank, int bits, int) {
  return rank ^ ((1U << bits) - 1);
}

/// The halves of the bits change places, as row and column do where a matrix is transposed. Of an
/// odd number of bits the row has one more: the matrix has twice as many rows as columns.
constexpr unsigned transpose(unsigned rank, int bits, int) {
  return rotated_right(rank, bits, bits / 2);
}

/// The perfect shuffle of a pack of cards: the bits move up by one place, the highest to the end.
constexpr unsigned shuffle(unsigned rank, int bits, int) {
  return rotated_right(rank, bits, bits - 1);
}

/// Pairs: bit 0 is flipped.
constexpr unsigned neighbour(unsigned rank, int, int) {
  return rank ^ 1U;
}

/// Bit `stage` is flipped.
constexpr unsigned cube(unsigned rank, int, int stage) {
  return rank ^ (1U << stage);
}

/// The low stage + 1 bits move down by one place, the lowest to their top.
constexpr unsigned baseline(unsigned rank, int, int stage) {
  return rotated_right(rank, stage + 1, 1);
}

/// A permutation of the numbers of `bits` bits, which is at least 1.
struct Rule {
  std::string_view name;
  unsigned (*of)(unsigned rank, int bits, int stage);
  /// It has stages from this one to bits - 1; -1: it has none.
  int first_stage = -1;
};

inline constexpr Rule rules[] = {{"bit-reversal", bit_reversal},
                                 {"butterfly", butterfly, 1},
                                 {"complement", complement},
                                 {"transpose", transpose},
                                 {"shuffle", shuffle},
                                 {"neighbour", neighbour},
                                 {"cube", cube, 0},
                                 {"baseline", baseline, 1}};

}  // namespace bit_permutations

}  // namespace nhalf
