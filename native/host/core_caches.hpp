// The caches of a core, by what the kernel says (Linux, Documentation/ABI/testing/
// sysfs-devices-system-cpu), read without streams.
#pragma once

#include "host/kernel_files.hpp"

namespace nhalf {
/// Parses a size as the kernel writes it ("32768K", "32M"); 0 for anything else.
inline std::size_t cache_bytes(const std::string& text) {
  std::size_t digits = 0;
  std::size_t number = 0;
  for (; digits < text.size() && digits < 9 && text[digits] >= '0' && text[digits] <= '9'; ++digits)
    number = number * 10 + static_cast<std::size_t>(text[digits] - '0');
  const auto unit = text.substr(digits);
  if (unit == "K") return number << 10;
  if (unit == "M") return number << 20;
  return unit.empty() ? number : 0;
}

/// The caches of a thread that stays near one last-level cache.
struct CoreCaches {
  /// The largest cache below the last level; 0 if unknown.
  std::uint64_t inner_bytes = 0;
  /// The first core of those that share the last level, counted from 1; 0 if unknown, or if the
  /// thread may move to cores that do not.
  std::uint64_t last_level = 0;
};

/// Returns the caches of a thread that may run on `cores`; `root` is the folder of `sys`.
inline CoreCaches core_caches(std::span<const int> cores, const std::string& root = "") {
  CoreCaches caches;
  if (cores.empty()) return caches;
  const auto line = [&](int core, int index, const char* file) {
    const auto text = text_of((root + "/sys/devices/system/cpu/cpu" + std::to_string(core) +
                               "/cache/index" + std::to_string(index) + file)
                                  .c_str());
    return text.substr(0, text.find('\n'));
  };
  std::uint64_t last_bytes = 0;
  int last_index = 0;
  // The kernel lists caches from the core outwards.
  for (int index = 0; index < 8; ++index) {
    const std::uint64_t size_bytes = cache_bytes(line(cores.front(), index, "/size"));
    if (size_bytes < std::max(last_bytes, std::uint64_t{1})) continue;
    if (line(cores.front(), index, "/type") == "Instruction") continue;
    caches.inner_bytes = std::exchange(last_bytes, size_bytes);
    last_index = index;
  }
  const auto sharing = line(cores.front(), last_index, "/shared_cpu_list");
  const auto shares = [&](int core) {
    return line(core, last_index, "/shared_cpu_list") == sharing;
  };
  if (!sharing.empty() && std::ranges::all_of(cores, shares))
    caches.last_level = std::strtoull(sharing.c_str(), nullptr, 10) + 1;
  return caches;
}
}  // namespace nhalf
