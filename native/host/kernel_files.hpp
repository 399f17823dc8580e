// What the kernel says in short files: which system runs, what this process may use, and what it
// uses. They are read without streams, whose objects are destroyed at the end of the process, when
// preloaded libraries are still called.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#include <charconv>
#include <cstdlib>

#include "contract/vocabulary.hpp"

namespace nhalf {
// Reads short files without streams, whose objects are destroyed at the end of the process, when
// preloaded libraries may still be called.

/// Returns the content of a file; empty if it cannot be read.
inline std::string text_of(const char* path) {
  std::string text;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> part{};
  for (ssize_t length = 1; length > 0;) {
    length = read(file, part.data(), part.size());
    if (length > 0) text.append(part.data(), static_cast<std::size_t>(length));
  }
  close(file);
  return text;
}

/// Returns the boot identifier, equal for all processes of a host until it reboots; may be empty.
inline std::string boot_id() {
  auto boot = text_of("/proc/sys/kernel/random/boot_id");
  return boot.erase(std::min(boot.find_last_not_of('\n') + 1, boot.size()));
}

/// Memory that lies in this process, in bytes (`resident` of /proc/self/statm); 0 if unknown.
inline double resident_bytes() {
  const auto text = text_of("/proc/self/statm");
  const auto second = text.find(' ');
  if (second == std::string::npos) return 0;
  return std::strtod(text.c_str() + second, nullptr) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// How many files, sockets and other descriptors are open; 0 if unknown.
inline int open_descriptors() {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  // Itself, its parent, and the descriptor of this folder are no news.
  int count = -3;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

// The memory that a process may use: that of the host, or the limit of its control groups, which
// batch systems and containers set (Linux, Documentation/admin-guide/cgroup-v2.rst and
// cgroup-v1/memory.rst).

inline constexpr std::uint64_t no_memory_limit = std::numeric_limits<std::uint64_t>::max();

/// Reads the limit in a file of a control group; no limit if it is missing or says `max`.
inline std::uint64_t memory_limit_in(const std::string& path) {
  const auto text = text_of(path.c_str());
  std::uint64_t value = no_memory_limit;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && value > 0 ? value : no_memory_limit;
}

/// Returns the smallest limit of a group and its ancestors. A container may see its own group as
/// the root, whatever path the kernel reports.
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

/// Returns the limit by the control groups of this process. `root` is the folder of `proc` and
/// `sys`.
inline std::uint64_t group_memory_limit_bytes(const std::string& root = "") {
  std::uint64_t least = no_memory_limit;
  const auto groups = text_of((root + "/proc/self/cgroup").c_str());
  for (std::string_view remaining_text = groups; !remaining_text.empty();) {
    const auto line = remaining_text.substr(0, remaining_text.find('\n'));
    remaining_text.remove_prefix(std::min(line.size() + 1, remaining_text.size()));
    // A line has a number, controllers and the group; in version 2 the number is 0 and no
    // controller is named.
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    std::string controllers = ",";
    controllers += line.substr(first + 1, second - first - 1);
    controllers += ",";
    const auto group = line.substr(second + 1);
    if (controllers == ",,")
      least = std::min(least, memory_limit_of(root + "/sys/fs/cgroup", group, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos)
      least = std::min(
          least, memory_limit_of(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

/// Returns the smaller of the control groups' limit and the memory of the host.
inline std::uint64_t memory_limit_bytes(const std::string& root = "") {
  const auto pages = static_cast<std::uint64_t>(std::max(1L, sysconf(_SC_PHYS_PAGES)));
  const auto page_size_bytes = static_cast<std::uint64_t>(std::max(1L, sysconf(_SC_PAGESIZE)));
  return std::min(pages * page_size_bytes, group_memory_limit_bytes(root));
}
}  // namespace nhalf
