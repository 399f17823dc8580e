// What a receiver does with what came, where nobody else reads it.
#pragma once

#include <cstddef>

#include "contract/transport.hpp"

namespace nhalf {

/// Reads a byte of each cache line: data that nobody reads never leaves the cache of its sender.
inline void read_lines(ConstBytes data) {
  constexpr std::size_t line_bytes = 64;
  for (std::size_t at = 0; at < data.size(); at += line_bytes) {
    volatile std::byte read = data[at];
    static_cast<void>(read);
  }
}

}  // namespace nhalf
