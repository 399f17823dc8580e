// SPDX-License-Identifier: Apache-2.0
// Memory that processes of one node share by a name, which is taken away as soon as all have it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <random>
#include <string>
#include <utility>

namespace nhalf {

/// A mapping of a segment of shared memory; empty where it could not be had.
class Segment {
 public:
  Segment() = default;
  Segment(Segment&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), size_bytes_(other.size_bytes_) {}
  Segment& operator=(Segment&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment() {
    if (memory_ != nullptr) munmap(memory_, size_bytes_);
  }

  /// A name that no other process of this node has.
  static std::string fresh_name() {
    std::random_device random;
    return "/nhalf-" + std::to_string(getpid()) + "-" + std::to_string(random());
  }

  /// Zeros under a name. Pages are set aside now, so that a full file system is seen here and not
  /// at the first touch.
  static Segment create(const char* name, std::size_t size_bytes) {
    return mapped(shm_open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600), size_bytes, true);
  }
  static Segment open(const char* name, std::size_t size_bytes) {
    return mapped(shm_open(name, O_RDWR | O_CLOEXEC, 0), size_bytes, false);
  }
  static void forget(const char* name) { shm_unlink(name); }

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_); }
  explicit operator bool() const { return memory_ != nullptr; }

 private:
  static Segment mapped(int file, std::size_t size_bytes, bool fresh) {
    Segment segment;
    if (file < 0) return segment;
    if (!fresh || posix_fallocate(file, 0, static_cast<off_t>(size_bytes)) == 0) {
      void* memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (memory != MAP_FAILED) {
        segment.memory_ = memory;
        segment.size_bytes_ = size_bytes;
      }
    }
    close(file);
    return segment;
  }

  void* memory_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace nhalf
