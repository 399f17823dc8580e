// Where the elements of an array lie whose blocks are dealt to ranks in turn.
#pragma once

#include "contract/options.hpp"

namespace nhalf::pgas {
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
    is_by_shifts_ = std::has_single_bit(block) && std::has_single_bit(ranks);
    block_bits_ = static_cast<int>(std::bit_width(block)) - 1;
    rank_bits_ = static_cast<int>(std::bit_width(ranks)) - 1;
    constexpr auto most = std::size_t{1} << (std::numeric_limits<std::ptrdiff_t>::digits - 1);
    // Where a round cannot be counted no step is a whole number of them.
    round_ = static_cast<std::ptrdiff_t>(block <= most / ranks ? block * ranks : most);
  }

  /// One block for each rank, as even as can be: as long as rank 0's.
  static Layout even(std::size_t size, std::size_t ranks) {
    return {size, std::max<std::size_t>(1, (size + ranks - 1) / std::max<std::size_t>(1, ranks)),
            ranks};
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t block() const { return block_; }
  [[nodiscard]] std::size_t ranks() const { return ranks_; }

  [[nodiscard]] Place place(std::size_t index) const {
    const auto [number, phase] = by_block(index);
    const auto [row, rank] = by_rank(number);
    return {rank, phase, row * block_ + phase};
  }
  [[nodiscard]] std::size_t rank_of(std::size_t index) const {
    return by_rank(by_block(index).quotient).remainder;
  }
  /// The element at a place: (local - phase) p + rank B + phase.
  [[nodiscard]] std::size_t index(const Place& at) const {
    return (at.local - at.phase) * ranks_ + at.rank * block_ + at.phase;
  }
  /// The element that a rank has at a place of its memory.
  [[nodiscard]] std::size_t index(std::size_t rank, std::size_t local) const {
    return index(Place{rank, by_block(local).remainder, local});
  }

  /// How many elements a rank has; rank 0 has most.
  [[nodiscard]] std::size_t count(std::size_t rank) const {
    // A block may be so long that one for each rank cannot be counted.
    const auto [blocks, past_blocks] = by_block(size_);
    const auto [rows, last] = by_rank(blocks);
    if (rank == last) return rows * block_ + past_blocks;
    return (rows + (rank < last ? 1 : 0)) * block_;
  }

  /// Whether `step` elements further on is the same rank and phase; then it is `own_step` of that
  /// rank's elements away.
  [[nodiscard]] bool is_rounds(std::ptrdiff_t step) const {
    return is_by_shifts_ ? (step & (round_ - 1)) == 0 : step % round_ == 0;
  }
  [[nodiscard]] std::ptrdiff_t own_step(std::ptrdiff_t step) const {
    return is_by_shifts_ ? step >> rank_bits_ : step / static_cast<std::ptrdiff_t>(ranks_);
  }

  /// The place `step` elements further on; it may lie outside of the array.
  [[nodiscard]] Place moved(const Place& from, std::ptrdiff_t step) const {
    if (step < 0) return moved_back(from, static_cast<std::size_t>(-step));
    const auto [blocks, phase] = by_block(from.phase + static_cast<std::size_t>(step));
    const auto [row, rank] = by_rank(from.rank + blocks);
    return {rank, phase, from.local - from.phase + row * block_ + phase};
  }

 private:
  struct Division {
    std::size_t quotient;
    std::size_t remainder;
  };

  /// By shift and mask where blocks and ranks are powers of two: one question for both.
  [[nodiscard]] Division by_block(std::size_t number) const {
    if (is_by_shifts_) return {number >> block_bits_, number & (block_ - 1)};
    return {number / block_, number % block_};
  }
  [[nodiscard]] Division by_rank(std::size_t number) const {
    if (is_by_shifts_) return {number >> rank_bits_, number & (ranks_ - 1)};
    return {number / ranks_, number % ranks_};
  }

  /// By whole rounds over all ranks, and from there ahead, so that numbers stay positive.
  [[nodiscard]] Place moved_back(const Place& from, std::size_t by) const {
    const auto round = block_ * ranks_;
    const auto rounds = (by + round - 1) / round;
    auto at = moved(from, static_cast<std::ptrdiff_t>(rounds * round - by));
    at.local -= rounds * block_;
    return at;
  }

  std::size_t size_;
  std::size_t block_;
  std::size_t ranks_;
  std::ptrdiff_t round_ = 1;
  int block_bits_ = 0;
  int rank_bits_ = 0;
  bool is_by_shifts_ = false;
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
