// Memory for messages on their way, behind the state of the network. Sizes are rounded up to
// quarters between powers of two, so that at most a fifth is wasted.
#pragma once

#include <bit>

#include "network/state.hpp"

namespace nhalf::network {
/// Takes memory from the rest, and what was given back first.
class Heap {
  static constexpr std::size_t alignment = 4096;

 public:
  /// Where it begins, in bytes after the beginning of the state.
  static constexpr std::size_t begin = (sizeof(State) + alignment - 1) / alignment * alignment;

  /// `memory_bytes` is how many bytes there are from the beginning of the state.
  Heap(State& state, std::size_t memory_bytes) : state_(state) {
    if (state.heap.end != 0) return;
    state.heap.top = begin;
    state.heap.end = memory_bytes;
  }

  /// Returns the place of this many bytes; 0 if the memory is full.
  Offset take(std::size_t bytes) {
    const auto kind = kind_of(bytes);
    if (const Offset place = state_.heap.free[kind]; place != 0) {
      state_.heap.free[kind] = state_.at<Offset>(place);
      return place;
    }
    const auto size = size_of(kind);
    if (size > state_.heap.end - state_.heap.top) return 0;
    const Offset place = state_.heap.top;
    state_.heap.top += size;
    return place;
  }

  void give_back(Offset place, std::size_t bytes) {
    const auto kind = kind_of(bytes);
    state_.at<Offset>(place) = state_.heap.free[kind];
    state_.heap.free[kind] = place;
  }

  /// Returns the size of a kind: 64, 80, 96, 112, 128, 160, 192 bytes and so on.
  static constexpr std::size_t size_of(std::size_t kind) {
    return (4 + kind % 4) << (kind / 4 + smallest_bits - 2);
  }

  /// Returns the smallest kind whose size suffices.
  static constexpr std::size_t kind_of(std::size_t bytes) {
    if (bytes <= std::size_t{1} << smallest_bits) return 0;
    const auto bits = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
    const auto quarter = (bytes - 1) >> (bits - 2);
    return (bits - smallest_bits) * 4 + (quarter - 4) + 1;
  }

 private:
  static constexpr std::size_t smallest_bits = 6;

  State& state_;
};
}  // namespace nhalf::network
