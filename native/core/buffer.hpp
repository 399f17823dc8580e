// SPDX-License-Identifier: Apache-2.0
// Message buffers: page-aligned, touched, filled with bytes that can be checked.
#pragma once

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
    if (size_bytes > SIZE_MAX - page) throw std::bad_alloc();
    const std::size_t rounded = (size_bytes / page + 1) * page;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(page, rounded)));
    if (!data_) throw std::bad_alloc();
    std::memset(data_.get(), 0, rounded);
  }

  [[nodiscard]] Bytes bytes() { return {data_.get(), size_bytes_}; }

  /// Writes a sequence that differs by seed and by place.
  void fill(std::uint32_t seed) {
    for (std::size_t i = 0; i < size_bytes_; ++i) data_.get()[i] = expected(seed, i);
  }

  /// True where every byte is what `fill(seed)` writes.
  [[nodiscard]] bool holds(std::uint32_t seed) const {
    for (std::size_t i = 0; i < size_bytes_; ++i)
      if (data_.get()[i] != expected(seed, i)) return false;
    return true;
  }

 private:
  static std::byte expected(std::uint32_t seed, std::size_t place) {
    const auto mixed = (place + 1) * 2654435761U + seed * 40503U;
    return static_cast<std::byte>((mixed >> 13) ^ mixed);
  }

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::size_t size_bytes_;
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace nhalf
