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

/// Bytes that differ by seed and by place, as long as they do not repeat.
class FillSequence {
 public:
  /// A prime, so that data shifted by a power of two does not look right.
  static constexpr std::size_t period = 4093;

  explicit FillSequence(std::uint32_t seed) {
    for (std::uint32_t i = 0; i < period; ++i) {
      const std::uint32_t mixed = (i + 1) * 2654435761U + seed * 40503U;
      bytes_[i] = static_cast<std::byte>((mixed >> 13) ^ mixed);
    }
  }
  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }

 private:
  std::array<std::byte, period> bytes_;
};

/// Writes a sequence that differs by seed and by place.
inline void fill(Bytes data, std::uint32_t seed) {
  const FillSequence sequence(seed);
  for (std::size_t i = 0; i < data.size(); i += FillSequence::period)
    std::memcpy(data.data() + i, sequence.data(), std::min(FillSequence::period, data.size() - i));
}

/// True where every byte is what `fill` with this seed writes.
inline bool holds(ConstBytes data, std::uint32_t seed) {
  const FillSequence sequence(seed);
  for (std::size_t i = 0; i < data.size(); i += FillSequence::period) {
    const auto length = std::min(FillSequence::period, data.size() - i);
    if (std::memcmp(data.data() + i, sequence.data(), length) != 0) return false;
  }
  return true;
}

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

  void fill(std::uint32_t seed) { nhalf::fill(bytes(), seed); }
  [[nodiscard]] bool holds(std::uint32_t seed) const {
    return nhalf::holds({data_.get(), size_bytes_}, seed);
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::size_t size_bytes_;
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace nhalf
