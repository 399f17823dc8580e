// SPDX-License-Identifier: Apache-2.0
// Memory for messages on their way, in the region that all ranks share. Sizes are rounded up to
// quarters between powers of two, so that at most a fifth is wasted.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "fabric/region.hpp"

namespace nhalf::fabric {

/// Takes memory from the rest of the region, and what was given back first.
class Heap {
 public:
  Heap(Region& region, std::size_t region_bytes) : region_(region), state_(region.heap) {
    if (state_.end != 0) return;
    state_.top = (sizeof(Region) + alignment - 1) / alignment * alignment;
    state_.end = region_bytes;
  }

  /// Returns the place of this many bytes; 0 if the region is full.
  Offset take(std::size_t bytes) {
    const auto kind = kind_of(bytes);
    if (const Offset place = state_.free[kind]; place != 0) {
      state_.free[kind] = region_.at<Offset>(place);
      return place;
    }
    const auto size = size_of(kind);
    if (size > state_.end - state_.top) return 0;
    const Offset place = state_.top;
    state_.top += size;
    return place;
  }

  void give_back(Offset place, std::size_t bytes) {
    const auto kind = kind_of(bytes);
    region_.at<Offset>(place) = state_.free[kind];
    state_.free[kind] = place;
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
  static constexpr std::size_t alignment = 4096;

  Region& region_;
  HeapState& state_;
};

}  // namespace nhalf::fabric
