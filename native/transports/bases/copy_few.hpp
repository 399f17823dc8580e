// Short copies to and from cache lines that two cores write in turn.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

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

}  // namespace nhalf
