// Messages that are under way together, a window after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nhalf {

/// Messages under way at a time, as in the OSU benchmarks.
inline constexpr std::size_t message_window = 64;

/// Calls `some` with how many messages go together, until all have gone.
template <class Some>
void windows(std::uint64_t messages, std::size_t window, Some some) {
  for (; messages > 0; messages -= std::min<std::uint64_t>(messages, window))
    some(static_cast<std::size_t>(std::min<std::uint64_t>(messages, window)));
}

}  // namespace nhalf
