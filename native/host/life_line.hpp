// A connection to the program that started the run, which the kernel closes when this process ends.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>

#include "contract/vocabulary.hpp"

namespace nhalf {
/// Connects to the abstract socket named by NHALF_LIFE_LINE; -1 if nobody listens.
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

/// A file number above practically all others of a process.
constexpr int life_line_file_max = 4095;

/// How long to wait for the listener: it may be stopped, and then nobody learns who ended first.
constexpr int life_line_wait_ms = 1000;

/// Waits until the listener has taken the line, since it cannot tell the order of ends before.
inline void wait_until_held(int file) {
  pollfd answer{file, POLLIN, 0};
  char byte = 0;
  if (poll(&answer, 1, life_line_wait_ms) > 0) static_cast<void>(recv(file, &byte, 1, 0));
}

/// Holds the life line until this process ends.
///
/// Linux closes the files of an ending process from the highest number down (since 4.3, where
/// deferred task work runs last in, first out), so the life line takes a high number: launchers
/// notice the end by a lower one, and only then end other ranks. A listener to all life lines
/// therefore knows which process ended first.
inline void hold_life_line() {
  const int file = life_line();
  if (file < 0) return;
  wait_until_held(file);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto highest = std::min<rlim_t>(limit.rlim_cur - 1, life_line_file_max);
  if (fcntl(file, F_DUPFD_CLOEXEC, static_cast<int>(highest)) >= 0) close(file);
}
}  // namespace nhalf
