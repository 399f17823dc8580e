// SPDX-License-Identifier: Apache-2.0
// Memory that processes of one host share. It has no name: it is found as an open file of the
// process that made it, and goes with the last process that has it, however that one ends.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace nhalf {

/// A mapping of shared memory; empty where it could not be had.
class Segment {
 public:
  /// Where other processes find it while its maker keeps the file open, and what it is.
  struct Address {
    std::int64_t process = 0;
    std::int64_t file = -1;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;

    bool operator==(const Address&) const = default;
  };

  Segment() = default;
  Segment(Segment&& other) noexcept { swap(other); }
  Segment& operator=(Segment&& other) noexcept {
    swap(other);
    return *this;
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment() {
    if (memory_ != nullptr) munmap(memory_, size_bytes_);
    close_file();
  }

  /// Zeros. No page is set aside yet: see `reserve`.
  static Segment create(std::size_t size_bytes) {
    // A process that grows a file beyond its limit is sent a signal.
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < size_bytes) return {};
    Segment made;
    made.file_ = memfd_create("nhalf", MFD_CLOEXEC);
    if (made.file_ >= 0 && ftruncate(made.file_, static_cast<off_t>(size_bytes)) == 0)
      made.map(size_bytes);
    return made;
  }

  /// What another process of this host made. Empty where its files are not for this process to see,
  /// or the one at the address is another one.
  static Segment open(const Address& address, std::size_t size_bytes) {
    Segment found;
    if (address.file < 0) return found;
    const auto path =
        "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.file);
    found.file_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (found.file_ < 0) return found;
    Address own = found.address();
    own.process = address.process;
    own.file = address.file;
    if (own == address && found.file_bytes() == size_bytes) found.map(size_bytes);
    return found;
  }

  /// The same memory mapped once more, while the file is open.
  [[nodiscard]] Segment mapped_again() const {
    Segment found;
    found.file_ = file_;
    if (file_ >= 0) found.map(size_bytes_);
    found.file_ = -1;
    return found;
  }

  [[nodiscard]] Address address() const {
    struct stat status{};
    if (file_ < 0 || fstat(file_, &status) != 0) return {};
    return {getpid(), file_, status.st_dev, status.st_ino};
  }

  /// Sets pages aside, near this process, so that a lack of memory is seen here and not at the
  /// first touch. While the file is open.
  [[nodiscard]] bool reserve(std::size_t at, std::size_t size_bytes) const {
    if (memory_ == nullptr || file_ < 0) return false;
    int error = EINTR;
    while (error == EINTR)
      error = posix_fallocate(file_, static_cast<off_t>(at), static_cast<off_t>(size_bytes));
    return error == 0;
  }

  /// When all have opened it.
  void close_file() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_); }
  explicit operator bool() const { return memory_ != nullptr; }

 private:
  void swap(Segment& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(file_, other.file_);
  }
  [[nodiscard]] std::size_t file_bytes() const {
    struct stat status{};
    return fstat(file_, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
  }
  void map(std::size_t size_bytes) {
    void* memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (memory == MAP_FAILED) return;
    memory_ = memory;
    size_bytes_ = size_bytes;
  }

  void* memory_ = nullptr;
  std::size_t size_bytes_ = 0;
  int file_ = -1;
};

}  // namespace nhalf
