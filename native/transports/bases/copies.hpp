// Short copies to and from cache lines that two cores write in turn, and into memory that another
// rank watches.
#pragma once

#include <atomic>

#include "contract/transport.hpp"

namespace nhalf {
/// Copies up to 128 bytes without a call: the line may be taken away while a function is entered.
inline void copy_few(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto both_ends = [&]<std::size_t part>(std::integral_constant<std::size_t, part>) {
    std::byte first[part];
    std::byte last[part];
    std::memcpy(first, from, part);
    std::memcpy(last, from + bytes - part, part);
    std::memcpy(to, first, part);
    std::memcpy(to + bytes - part, last, part);
  };
  if (bytes > 64) return both_ends(std::integral_constant<std::size_t, 64>());
  if (bytes >= 32) return both_ends(std::integral_constant<std::size_t, 32>());
  if (bytes >= 16) return both_ends(std::integral_constant<std::size_t, 16>());
  if (bytes >= 8) return both_ends(std::integral_constant<std::size_t, 8>());
  if (bytes >= 4) return both_ends(std::integral_constant<std::size_t, 4>());
  for (; bytes > 0; --bytes) *to++ = *from++;
}

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
