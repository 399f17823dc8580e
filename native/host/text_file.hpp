// SPDX-License-Identifier: Apache-2.0
// Short files read as a whole, without streams: those have objects that end with the process, and
// preloaded libraries are called after that.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>

namespace nhalf {

/// Returns the content of a file; empty where it cannot be read.
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

}  // namespace nhalf
