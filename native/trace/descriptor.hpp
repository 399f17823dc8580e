// A file that is open only as long as a function needs it: the number of open files of a process is
// limited, and the program's own take precedence.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace nhalf::trace {

class Descriptor {
 public:
  /// Creates a file, which must not exist yet.
  static Descriptor made(const char* path) { return {path, O_RDWR | O_CREAT | O_EXCL}; }
  static Descriptor opened(const char* path) { return {path, O_RDWR}; }

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }

  [[nodiscard]] int number() const { return number_; }
  /// Returns the errno of opening; 0 if the file is open.
  [[nodiscard]] int error() const { return error_; }

 private:
  Descriptor(const char* path, int flags)
      : number_(open(path, flags | O_CLOEXEC, 0644)), error_(number_ < 0 ? errno : 0) {}

  int number_;
  int error_;
};

}  // namespace nhalf::trace
