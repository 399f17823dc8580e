// SPDX-License-Identifier: Apache-2.0
// Where the elements of an array lie whose blocks are dealt to ranks in turn.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "contract/options.hpp"

namespace nhalf::pgas {

/// Division by a number that is known at run time: by shift and mask where it is a power of two.
class Divisor {
 public:
  explicit Divisor(std::size_t value) : value_(value) {
    if (std::has_single_bit(value)) shift_ = std::countr_zero(value);
  }

  [[nodiscard]] std::size_t value() const { return value_; }
  [[nodiscard]] std::size_t quotient(std::size_t number) const {
    return shift_ >= 0 ? number >> shift_ : number / value_;
  }
  [[nodiscard]] std::size_t remainder(std::size_t number) const {
    return shift_ >= 0 ? number & (value_ - 1) : number % value_;
  }

 private:
  std::size_t value_;
  int shift_ = -1;
};

/// Where one element lies: at which rank, at which place of its block, and of what that rank has.
struct Place {
  std::size_t rank = 0;
  std::size_t phase = 0;
  std::size_t local = 0;

  bool operator==(const Place&) const = default;
};

/// An array of `size` elements in blocks of `block`, dealt to `ranks` in turn. For element i,
/// B = block and p = ranks (UPC Language Specifications 1.3, section 6.4.2):
///
///     phase = i mod B;   rank = floor(i / B) mod p;   local = floor(i / (B p)) B + phase
///
/// A rank's blocks follow each other in its memory.
class Layout {
 public:
  /// Throws InputError where there is no rank or blocks have no element.
  Layout(std::size_t size, std::size_t block, std::size_t ranks)
      : size_(size), block_(block), ranks_(ranks) {
    if (block == 0 || ranks == 0)
      throw InputError("a shared array has blocks of 1 element or more");
  }

  /// One block for each rank, as even as can be: as long as rank 0's.
  static Layout even(std::size_t size, std::size_t ranks) {
    return {size, std::max<std::size_t>(1, (size + ranks - 1) / std::max<std::size_t>(1, ranks)),
            ranks};
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t block() const { return block_.value(); }
  [[nodiscard]] std::size_t ranks() const { return ranks_.value(); }

  [[nodiscard]] Place place(std::size_t index) const {
    const auto number = block_.quotient(index);
    const auto phase = block_.remainder(index);
    return {ranks_.remainder(number), phase, ranks_.quotient(number) * block() + phase};
  }
  [[nodiscard]] std::size_t rank_of(std::size_t index) const {
    return ranks_.remainder(block_.quotient(index));
  }
  /// The element at a place: (local - phase) p + rank B + phase.
  [[nodiscard]] std::size_t index(const Place& at) const {
    return (at.local - at.phase) * ranks() + at.rank * block() + at.phase;
  }
  /// The element that a rank has at a place of its memory.
  [[nodiscard]] std::size_t index(std::size_t rank, std::size_t local) const {
    return index(Place{rank, block_.remainder(local), local});
  }

  /// How many elements a rank has; rank 0 has most.
  [[nodiscard]] std::size_t count(std::size_t rank) const {
    // A block may be so long that one for each rank cannot be counted.
    const auto blocks = block_.quotient(size_);
    const auto rows = ranks_.quotient(blocks);
    const auto last = ranks_.remainder(blocks);
    if (rank == last) return rows * block() + block_.remainder(size_);
    return (rows + (rank < last ? 1 : 0)) * block();
  }

  /// The place `step` elements further on; it may lie outside of the array.
  [[nodiscard]] Place moved(const Place& from, std::ptrdiff_t step) const {
    auto at = from;
    const auto rows = from.local - from.phase;
    // Backwards by whole rounds over all ranks, so that numbers stay positive.
    std::size_t back = 0;
    std::size_t ahead = static_cast<std::size_t>(step);
    if (step < 0) {
      const auto round = block() * ranks();
      back = (static_cast<std::size_t>(-step) + round - 1) / round;
      ahead = back * round - static_cast<std::size_t>(-step);
    }
    const auto elements = from.phase + ahead;
    const auto blocks = from.rank + block_.quotient(elements);
    at.phase = block_.remainder(elements);
    at.rank = ranks_.remainder(blocks);
    at.local = rows + (ranks_.quotient(blocks) - back) * block() + at.phase;
    return at;
  }

 private:
  std::size_t size_;
  Divisor block_;
  Divisor ranks_;
};

/// Calls `run(first, local, count)` for every run of elements from `first` that lie together in
/// memory, at `local` of rank `rank`: its blocks in their order.
template <class Run>
void each_block(const Layout& layout, std::size_t rank, Run run) {
  const auto count = layout.count(rank);
  const auto stride = layout.block() * (layout.ranks() - 1);
  auto first = rank * layout.block();
  for (std::size_t local = 0; local < count;) {
    const auto length = std::min(layout.block(), count - local);
    run(first, local, length);
    local += length;
    first += length + stride;
  }
}

}  // namespace nhalf::pgas
