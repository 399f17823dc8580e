// Reads short files without streams, whose objects are destroyed at the end of the process, when
// preloaded libraries may still be called.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>

namespace nhalf {

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

}  // namespace nhalf
