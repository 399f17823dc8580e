// Control messages hold three copies of what they say, and of each bit counts what two copies say:
// a library that is wrong in one of a thousand messages is to be measured and named, while the
// ranks that measure it still agree on what they do.
#pragma once

#include "contract/transport.hpp"

namespace nhalf {
constexpr std::size_t copies = 3;

/// Returns the copies of data, one after the other.
inline std::vector<std::byte> threefold(ConstBytes data) {
  std::vector<std::byte> all(copies * data.size());
  for (std::size_t copy = 0; copy < copies && !data.empty(); ++copy)
    std::memcpy(all.data() + copy * data.size(), data.data(), data.size());
  return all;
}

/// Writes what two of three copies say; `all` is three times as long as `data`.
inline void restore(ConstBytes all, Bytes data) {
  const auto size = data.size();
  for (std::size_t i = 0; i < size; ++i) {
    const auto first = all[i], second = all[size + i], third = all[2 * size + i];
    data[i] = (first & second) | (first & third) | (second & third);
  }
}
}  // namespace nhalf
