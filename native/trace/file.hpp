// SPDX-License-Identifier: Apache-2.0
// A file in memory that grows: its addresses stay, and whatever becomes of the process is kept by
// the kernel. Room is taken on the disk before it is touched, so a full one is no signal.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace nhalf::trace {

class File {
 public:
  /// Of up to `most_bytes`, of which none are there yet. `error()` tells what failed.
  File(const char* path, std::size_t most_bytes)
      : descriptor_(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644)),
        most_bytes_(most_bytes) {
    if (descriptor_ < 0) {
      error_ = errno;
      return;
    }
    void* where = mmap(nullptr, most_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                       descriptor_, 0);
    if (where == MAP_FAILED)
      error_ = errno;
    else
      data_ = static_cast<std::byte*>(where);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (data_ != nullptr) munmap(data_, most_bytes_);
    if (descriptor_ >= 0) close(descriptor_);
  }

  /// Whether the file has `size_bytes` now.
  bool grow(std::size_t size_bytes) {
    if (error_ != 0 || size_bytes > most_bytes_) return false;
    if (size_bytes <= size_bytes_) return true;
    const int failed = posix_fallocate(descriptor_, static_cast<off_t>(size_bytes_),
                                       static_cast<off_t>(size_bytes - size_bytes_));
    if (failed != 0) {
      error_ = failed;
      return false;
    }
    size_bytes_ = size_bytes;
    return true;
  }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] int error() const { return error_; }

 private:
  int descriptor_;
  std::size_t most_bytes_;
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
  int error_ = 0;
};

}  // namespace nhalf::trace
