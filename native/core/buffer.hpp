// SPDX-License-Identifier: Apache-2.0
// Message buffers: page-aligned, touched, filled with bytes that can be checked.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "core/transport.hpp"

namespace nhalf {

/// Memory of `size` bytes that starts on a page, as message buffers of real programs often do.
class Buffer {
 public:
  explicit Buffer(std::size_t size_bytes) : size_bytes_(size_bytes) {
    constexpr std::size_t page = 4096;
    if (size_bytes > largest_bytes()) throw std::bad_alloc();
    const std::size_t rounded = (size_bytes / page + 1) * page;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(page, rounded)));
    if (!data_) throw std::bad_alloc();
    std::memset(data_.get(), 0, rounded);
  }

  /// An eighth of the memory of this host: the system grants more and then ends the program.
  static std::size_t largest_bytes() {
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 8 *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }

  [[nodiscard]] Bytes bytes() { return {data_.get(), size_bytes_}; }

  /// Writes a sequence that differs by seed and by place.
  void fill(std::uint32_t seed) {
    const auto block = sequence(seed);
    for (std::size_t i = 0; i < size_bytes_; i += period)
      std::memcpy(data_.get() + i, block.data(), std::min(period, size_bytes_ - i));
  }

  /// True where every byte is what `fill(seed)` writes.
  [[nodiscard]] bool holds(std::uint32_t seed) const {
    const auto block = sequence(seed);
    for (std::size_t i = 0; i < size_bytes_; i += period)
      if (std::memcmp(data_.get() + i, block.data(), std::min(period, size_bytes_ - i)) != 0)
        return false;
    return true;
  }

 private:
  /// A prime, so that data shifted by a power of two does not look right.
  static constexpr std::size_t period = 4093;

  static std::array<std::byte, period> sequence(std::uint32_t seed) {
    std::array<std::byte, period> block;
    for (std::uint32_t i = 0; i < period; ++i) {
      const std::uint32_t mixed = (i + 1) * 2654435761U + seed * 40503U;
      block[i] = static_cast<std::byte>((mixed >> 13) ^ mixed);
    }
    return block;
  }

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::size_t size_bytes_;
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace nhalf
