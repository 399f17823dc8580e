// What this process holds of its host.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>

#include "host/text_file.hpp"

namespace nhalf {

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

}  // namespace nhalf
