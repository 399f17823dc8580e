// SPDX-License-Identifier: Apache-2.0
// A connection to whoever started the run, which the kernel closes when this process ends.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace nhalf {

/// A connection to the name without a file that NHALF_LIFE_LINE gives; -1 where nobody listens.
inline int life_line() {
  const char* text = std::getenv("NHALF_LIFE_LINE");
  const std::string_view name = text != nullptr ? text : "";
  sockaddr_un address{};
  if (name.empty() || name.size() + 1 > sizeof address.sun_path) return -1;
  address.sun_family = AF_UNIX;
  std::memcpy(&address.sun_path[1], name.data(), name.size());
  const auto length = offsetof(sockaddr_un, sun_path) + 1 + name.size();
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (file < 0) return -1;
  if (connect(file, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(length)) ==
      0)
    return file;
  close(file);
  return -1;
}

/// Holds the life line until this process ends; where its standard input is from now on.
///
/// The kernel closes the files of a process in the order of their numbers, so the life line takes
/// the first: launchers hear of an end by a later one, and only then do they end other ranks. Who
/// listens to all life lines knows for certain which process ended first.
inline int hold_life_line() {
  const int file = life_line();
  if (file < 0) return STDIN_FILENO;
  const int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (dup3(file, STDIN_FILENO, O_CLOEXEC) < 0) return STDIN_FILENO;
  close(file);
  return input;
}

}  // namespace nhalf
