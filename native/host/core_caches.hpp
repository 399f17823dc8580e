// The caches of a core, by what the kernel says (Linux, Documentation/ABI/testing/
// sysfs-devices-system-cpu), read without streams.
#pragma once

#include "host/cores.hpp"
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

/// Parses a list of cores as the kernel writes it ("0-3,8"); empty for anything else.
inline std::vector<int> cores_in(std::string_view text) {
  constexpr int most = 1 << 20;
  std::vector<int> cores;
  while (!text.empty() && text.back() <= ' ') text.remove_suffix(1);
  const auto* const end = text.data() + text.size();
  for (const auto* at = text.data(); at != end;) {
    int first = 0;
    auto parsed = std::from_chars(at, end, first);
    int last = first;
    if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '-')
      parsed = std::from_chars(parsed.ptr + 1, end, last);
    if (parsed.ec != std::errc() || first < 0 || last >= most) return {};
    for (int core = first; core <= last; ++core) cores.push_back(core);
    at = parsed.ptr;
    if (at != end && *at++ != ',') return {};
  }
  return cores;
}

/// The caches of the cores of a thread that stays near one last-level cache.
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
  const auto folder =
      root + "/sys/devices/system/cpu/cpu" + std::to_string(cores.front()) + "/cache/index";
  const auto line = [&](int index, const char* file) {
    const auto text = text_of((folder + std::to_string(index) + file).c_str());
    return text.substr(0, text.find('\n'));
  };
  std::uint64_t last_bytes = 0;
  std::vector<int> sharing;
  for (int index = 0; index < 8; ++index) {
    // The kernel lists caches from the core outwards.
    const std::uint64_t size_bytes = cache_bytes(line(index, "/size"));
    if (size_bytes == 0 || line(index, "/type") == "Instruction") continue;
    if (size_bytes < last_bytes) continue;
    caches.inner_bytes = last_bytes;
    last_bytes = size_bytes;
    sharing = cores_in(line(index, "/shared_cpu_list"));
  }
  const auto shares = [&](int core) { return std::ranges::find(sharing, core) != sharing.end(); };
  if (!sharing.empty() && std::ranges::all_of(cores, shares))
    caches.last_level = static_cast<std::uint64_t>(sharing.front()) + 1;
  return caches;
}
}  // namespace nhalf
