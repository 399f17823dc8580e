// The two ways to move a payload: stores of the program, and the block copy of the C library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "contract/transport.hpp"

namespace nhalf::am {

/// Word by word. The compiler is kept from making a call of the block copy out of the loop.
inline void copy_by_stores(ConstBytes from, std::byte* to) {
  constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  std::size_t at = 0;
  for (; at + word_bytes <= from.size(); at += word_bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, from.data() + at, word_bytes);
    std::memcpy(to + at, &word, word_bytes);
    asm volatile("" : : "r"(to) : "memory");
  }
  if (at < from.size()) std::memcpy(to + at, from.data() + at, from.size() - at);
}

inline void copy_in_bulk(ConstBytes from, std::byte* to) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

}  // namespace nhalf::am
