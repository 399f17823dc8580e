// Messages that are sent in parts, so that parts on different ways overlap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "contract/transport.hpp"

namespace nhalf {

/// A part where nobody says otherwise: that of the pipelined broadcasts of the SP2 study.
inline constexpr std::size_t default_part_bytes = 8192;

/// How many parts n bytes have; an empty message is one part.
constexpr std::int64_t parts_of(std::size_t size_bytes,
                                std::size_t part_bytes = default_part_bytes) {
  return static_cast<std::int64_t>(
      std::max<std::size_t>(1, (size_bytes + part_bytes - 1) / part_bytes));
}

/// Calls `action` with one part after the other, the last of which may be shorter.
template <class Action>
void for_each_part(Bytes data, std::size_t part_bytes, Action action) {
  std::size_t at = 0;
  do {
    const auto size_bytes = std::min(part_bytes, data.size() - at);
    action(data.subspan(at, size_bytes));
    at += size_bytes;
  } while (at < data.size());
}

}  // namespace nhalf
