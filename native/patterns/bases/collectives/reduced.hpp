// What ranks give to reductions, and what these make of it.
#pragma once

#include "contract/reduction.hpp"

namespace nhalf {
/// Vectors whose elements are made of whole numbers from 1 to 16, so that sums do not depend on the
/// order (of floats below 2^20 ranks), no rank can be left out or counted twice unseen, and
/// elements cannot change places.
class ReducedVectors {
 public:
  explicit ReducedVectors(const Reduction& reduction) : reduction_(reduction) {}

  /// Writes what a rank gives, from an element on.
  void give(int rank, std::size_t first, Bytes data) const {
    switch (reduction_.type) {
      case ElementType::char_:
        return numbers<unsigned char>(rank, first, data);
      case ElementType::int_:
        return numbers<int>(rank, first, data);
      case ElementType::long_:
        return numbers<long>(rank, first, data);
      case ElementType::double_:
        return numbers<double>(rank, first, data);
      case ElementType::complex:
        return tuples<double, 2>(rank, first, data);
      case ElementType::pairs:
        return tuples<int, 2>(rank, first, data);
      case ElementType::derived:
        return tuples<int, 4>(rank, first, data);
      default:
        return numbers<float>(rank, first, data);
    }
  }

  /// Whether data is the combination of what ranks 0 to `ranks - 1` give, from an element on.
  [[nodiscard]] bool holds(int ranks, std::size_t first, ConstBytes data) const {
    std::array<std::byte, block_bytes> combined, term;
    for (std::size_t at = 0; at < data.size(); at += block_bytes) {
      const auto got = data.subspan(at, std::min(block_bytes, data.size() - at));
      const auto expected = std::span(combined).first(got.size());
      const auto next = std::span(term).first(got.size());
      const auto element = first + at / reduction_.element_bytes();
      give(ranks - 1, element, expected);
      for (int rank = ranks - 2; rank >= 0; --rank) {
        give(rank, element, next);
        combine_elements(reduction_, next, expected);
      }
      if (!std::ranges::equal(got, expected)) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t block_bytes = 4096;

  static int value(int rank, std::size_t element) {
    const auto place = static_cast<std::uint32_t>(element % 4093) + 1;
    const auto mixed = place * 2654435761U + static_cast<std::uint32_t>(rank) * 40503U;
    return static_cast<int>((mixed >> 13 & 15U) + 1);
  }
  template <class N>
  static void numbers(int rank, std::size_t element, Bytes data) {
    for (std::size_t at = 0; at + sizeof(N) <= data.size(); at += sizeof(N)) {
      const auto number = static_cast<N>(value(rank, element++));
      std::memcpy(data.data() + at, &number, sizeof number);
    }
  }
  /// The second number of a pair is the rank, so that places differ.
  template <class N, std::size_t count>
  static void tuples(int rank, std::size_t element, Bytes data) {
    std::array<N, count> tuple;
    for (std::size_t at = 0; at + sizeof tuple <= data.size(); at += sizeof tuple) {
      const int first = value(rank, element++);
      for (std::size_t i = 0; i < count; ++i)
        tuple[i] = static_cast<N>(i % 2 == 0 ? first + static_cast<int>(i) : rank);
      std::memcpy(data.data() + at, tuple.data(), sizeof tuple);
    }
  }

  Reduction reduction_;
};
}  // namespace nhalf
