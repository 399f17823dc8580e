// Copies into memory that another rank watches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "contract/transport.hpp"

namespace nhalf {

/// Copies `data` to `offset` of `region`, the last aligned word last: who waits for it sees the
/// rest.
inline void watched_put(Bytes region, std::size_t offset, ConstBytes data) {
  constexpr auto word_bytes = sizeof(std::uint64_t);
  auto* target = region.data() + offset;
  if (data.size() < word_bytes || (offset + data.size()) % word_bytes != 0) {
    if (!data.empty()) std::memcpy(target, data.data(), data.size());
    return;
  }
  const auto last = data.size() - word_bytes;
  if (last > 0) std::memcpy(target, data.data(), last);
  std::uint64_t word = 0;
  std::memcpy(&word, data.data() + last, word_bytes);
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(target + last))
      .store(word, std::memory_order_release);
}

}  // namespace nhalf
