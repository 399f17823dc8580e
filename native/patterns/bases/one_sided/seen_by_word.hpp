// What patterns have in common whose messages are seen by their last word.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "patterns/bases/one_sided/region_pair.hpp"

namespace nhalf {

/// The last word is a number that grows, and there is one word at least.
template <MappedMemory T>
class SeenByWord : public RegionPair<T> {
 protected:
  static constexpr std::size_t word_bytes = sizeof(std::uint64_t);

  SeenByWord(T& transport, const Case& point)
      : RegionPair<T>(transport, {.size_bytes = std::max(point.size_bytes, word_bytes)}),
        place_(this->out().size() - word_bytes) {}

  /// Waits until the next number is in `memory`, and reads what came before it.
  void await_next(Bytes memory) {
    const auto word = shared_word(memory, place_);
    ++awaited_;
    this->transport_.until([&] { return word.load(std::memory_order_acquire) == awaited_; });
    read_lines(memory);
  }
  /// Whether all before the last word is what a rank sends.
  [[nodiscard]] bool holds_of(int rank, ConstBytes memory) const {
    const FillSequence sent(this->seed_of(rank), place_);
    return std::memcmp(memory.data(), sent.data(), std::min(place_, FillSequence::period)) == 0;
  }

  std::size_t place_;
  std::uint64_t awaited_ = 0;
};

}  // namespace nhalf
