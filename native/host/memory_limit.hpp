// SPDX-License-Identifier: Apache-2.0
// How much memory a process may use: that of the host, or what its control groups leave it, as
// batch systems and containers set them (Linux, Documentation/admin-guide/cgroup-v2.rst and
// cgroup-v1/memory.rst).
#pragma once

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "host/text_file.hpp"

namespace nhalf {

inline constexpr std::uint64_t no_memory_limit = std::numeric_limits<std::uint64_t>::max();

/// The number in a file of a control group; no limit where there is none, or the word `max`.
inline std::uint64_t memory_limit_in(const std::string& path) {
  const auto text = text_of(path.c_str());
  std::uint64_t value = no_memory_limit;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && value > 0 ? value : no_memory_limit;
}

/// The least limit of a group and of all that it is in. A container may see its own group as the
/// top, whatever the path that the kernel tells.
inline std::uint64_t memory_limit_of(const std::string& top, std::string_view group,
                                     std::string_view file) {
  std::uint64_t least = no_memory_limit;
  for (std::string path(group);; path.erase(std::min(path.rfind('/'), path.size()))) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    least = std::min(least, memory_limit_in(top + path + '/' + std::string(file)));
    if (path.empty() || path.find('/') == std::string::npos) break;
  }
  return std::min(least, memory_limit_in(top + '/' + std::string(file)));
}

/// What the control groups of this process leave it, in bytes. `root` is where `proc` and `sys`
/// are.
inline std::uint64_t group_memory_limit_bytes(const std::string& root = "") {
  std::uint64_t least = no_memory_limit;
  const auto groups = text_of((root + "/proc/self/cgroup").c_str());
  for (std::string_view rest = groups; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    // A number, controllers, and the group: of version 2 the number is 0, and none are named.
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const auto controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    const auto group = line.substr(second + 1);
    if (controllers == ",,")
      least = std::min(least, memory_limit_of(root + "/sys/fs/cgroup", group, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos)
      least = std::min(
          least, memory_limit_of(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

/// That, or the memory of the host where it is less.
inline std::uint64_t memory_limit_bytes(const std::string& root = "") {
  const auto pages = static_cast<std::uint64_t>(std::max(1L, sysconf(_SC_PHYS_PAGES)));
  const auto page_size_bytes = static_cast<std::uint64_t>(std::max(1L, sysconf(_SC_PAGESIZE)));
  return std::min(pages * page_size_bytes, group_memory_limit_bytes(root));
}

}  // namespace nhalf
