// The size of the last-level cache, and a filler that evicts its content.
#pragma once

#include <fstream>

#include "contract/buffer.hpp"
#include "host/core_caches.hpp"

namespace nhalf {
/// Returns the size of the largest cache of the first core; 32 MiB if the system does not say.
inline std::size_t last_level_cache_bytes() {
  constexpr std::size_t unknown_bytes = std::size_t{32} << 20;
  std::size_t largest_bytes = 0;
  for (int index = 0; index < 8; ++index) {
    std::string size;
    std::ifstream("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size") >>
        size;
    largest_bytes = std::max(largest_bytes, cache_bytes(size));
  }
  return largest_bytes > 0 ? largest_bytes : unknown_bytes;
}

/// Returns the memory with which each of `ranks_here` ranks of a host evicts a cache: twice the
/// cache, or the rank's share of buffer memory; 0 if that is less than the cache.
inline std::size_t filler_bytes(std::size_t cache_bytes, std::size_t memory_bytes,
                                std::size_t ranks_here) {
  const auto share_bytes = memory_bytes / ranks_here;
  return share_bytes < cache_bytes ? 0 : std::min(2 * cache_bytes, share_bytes);
}

/// Memory whose writing evicts everything else from the last-level cache. Throws std::bad_alloc if
/// `ranks_here` ranks of one host do not have enough memory.
class CacheFiller {
 public:
  explicit CacheFiller(std::size_t ranks_here) : scratch_(enough_bytes(ranks_here)) {}

  [[nodiscard]] std::size_t size_bytes() { return scratch_.bytes().size(); }

  void fill() {
    constexpr std::size_t line_bytes = 64;
    const auto bytes = scratch_.bytes();
    ++turn_;
    for (std::size_t i = 0; i < bytes.size(); i += line_bytes) {
      volatile std::byte& written = bytes[i];
      written = std::byte{turn_};
    }
  }

 private:
  static std::size_t enough_bytes(std::size_t ranks_here) {
    const auto bytes = filler_bytes(last_level_cache_bytes(), Buffer::largest_bytes(), ranks_here);
    if (bytes == 0) throw std::bad_alloc();
    return bytes;
  }

  Buffer scratch_;
  unsigned char turn_ = 0;
};
}  // namespace nhalf
