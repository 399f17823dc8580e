// Cells by subject: they are consecutive in the file, and a hash table of their numbers with open
// addressing, in memory alone, finds them.
#pragma once

#include "trace/file.hpp"
#include "trace/layout.hpp"
#include "trace/shared.hpp"

namespace nhalf::trace {
/// Number of cells that all threads of the process may still take.
inline constinit std::atomic<std::int64_t> cells_remaining{static_cast<std::int64_t>(cells_most)};

class Cells {
 public:
  Cells(File& file, Layout& layout) : file_(file), layout_(layout), numbers_(1024, 0) {}

  static std::uint64_t packed(const Subject& subject) {
    return static_cast<std::uint64_t>(subject.call) << 52U |
           static_cast<std::uint64_t>(subject.kind) << 48U |
           static_cast<std::uint64_t>(subject.communicator & 0xffffU) << 32U |
           static_cast<std::uint32_t>(subject.partner);
  }

  /// Returns the cell of a subject and adds it if necessary; one with fewer details if cells run
  /// out.
  [[gnu::always_inline]] Cell& of(const Subject& subject) {
    const auto which = packed(subject);
    const auto mask = numbers_.size() - 1;
    for (auto at = hash(which, subject.size_bytes) & mask;; at = (at + 1) & mask) {
      const auto number = numbers_[at];
      if (number == 0) [[unlikely]]
        return added(subject, at);
      Cell& cell = layout_.cells[number - 1];
      if (cell.which == which && cell.size_bytes == subject.size_bytes) [[likely]]
        return cell;
    }
  }

 private:
  static constexpr std::uint64_t step = 64;
  /// Memory of a cell, with up to four slots of the table per cell.
  static constexpr std::int64_t cell_bytes = sizeof(Cell) + 4 * sizeof(std::uint32_t);
  /// Cells reserved for subjects with rounded sizes, and for subjects without partners.
  static constexpr std::int64_t for_rounded = 40'000;
  static constexpr std::int64_t for_joined = 8'000;

  static std::uint64_t hash(std::uint64_t which, std::uint64_t size_bytes) {
    auto mixed = (which ^ (size_bytes * 0x9e3779b97f4a7c15U)) * 0xd6e8feb86659fd93U;
    return mixed ^ (mixed >> 32U);
  }

  [[gnu::noinline]] Cell& added(const Subject& subject, std::uint64_t at) {
    const bool is_rounded = std::popcount(subject.size_bytes) <= 1;
    const bool is_joined = subject.partner == elsewhere && subject.size_bytes == 0;
    const auto remaining =
        std::min(cells_remaining.load(std::memory_order_relaxed),
                 memory_remaining_bytes.load(std::memory_order_relaxed) / cell_bytes);
    const auto reserve = is_joined ? 0 : is_rounded ? for_joined : for_rounded;
    if (!is_full_ && remaining > reserve && reserve_cell()) return made(subject, at);
    return fewer_details(subject, is_rounded);
  }

  bool reserve_cell() {
    const auto needed = layout_.head.cells + 1;
    if (needed > cells_most) return false;
    const auto in_steps = (needed + step - 1) / step * step;
    const auto bytes = offsetof(Layout, cells) + in_steps * sizeof(Cell);
    if (file_.grow(bytes)) return true;
    is_full_ = true;
    layout_.head.lost |= disk_full;
    return false;
  }

  Cell& made(const Subject& subject, std::uint64_t at) {
    cells_remaining.fetch_sub(1, std::memory_order_relaxed);
    memory_remaining_bytes.fetch_sub(cell_bytes, std::memory_order_relaxed);
    Cell& cell = layout_.cells[layout_.head.cells];
    cell =
        Cell{packed(subject), subject.size_bytes, 0, 0, 0, 0, std::numeric_limits<Ticks>::max(), 0};
    // A reader after a kill sees complete cells only.
    std::atomic_signal_fence(std::memory_order_release);
    layout_.head.cells += 1;
    numbers_[at] = static_cast<std::uint32_t>(layout_.head.cells);
    if (layout_.head.cells * 2 > numbers_.size()) enlarge();
    return cell;
  }

  /// Rounds the size down to a power of two first; then joins all partners.
  Cell& fewer_details(Subject subject, bool is_rounded) {
    if (!is_rounded) {
      layout_.head.lost |= sizes_rounded;
      subject.size_bytes = std::bit_floor(subject.size_bytes);
      return of(subject);
    }
    layout_.head.lost |= partners_joined;
    if (subject.partner == elsewhere && subject.size_bytes == 0) return last_resort_;
    subject.partner = elsewhere;
    subject.size_bytes = 0;
    subject.communicator = communicators_max;
    return of(subject);
  }

  void enlarge() {
    std::vector<std::uint32_t> larger(numbers_.size() * 2, 0);
    const auto mask = larger.size() - 1;
    for (std::uint32_t number = 1; number <= layout_.head.cells; ++number) {
      const Cell& cell = layout_.cells[number - 1];
      auto at = hash(cell.which, cell.size_bytes) & mask;
      while (larger[at] != 0) at = (at + 1) & mask;
      larger[at] = number;
    }
    numbers_ = std::move(larger);
  }

  File& file_;
  Layout& layout_;
  /// Numbers of cells from 1 on; 0 is a free slot.
  std::vector<std::uint32_t> numbers_;
  bool is_full_ = false;
  /// Counts what fits into no cell of the file.
  Cell last_resort_{};
};
}  // namespace nhalf::trace
