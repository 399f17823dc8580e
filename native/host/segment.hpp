// Memory that processes of one host share. It has no name: other processes open it as a file of its
// creator, and it is freed with the last process that maps it, however that one ends.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "contract/vocabulary.hpp"

namespace nhalf {
/// A mapping of shared memory; empty if that failed.
class Segment {
 public:
  /// Locates the open file of the creator, and identifies it.
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

  /// Creates zeroed memory without reserving pages; see `reserve`.
  static Segment create(std::size_t size_bytes) {
    // A process that grows a file beyond its limit gets a signal.
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < size_bytes) return {};
    Segment segment;
    segment.file_ = memfd_create("nhalf", MFD_CLOEXEC);
    if (segment.file_ >= 0 && ftruncate(segment.file_, static_cast<off_t>(size_bytes)) == 0)
      segment.map(size_bytes);
    return segment;
  }

  /// Maps the memory of another process of this host. Empty if its files are not accessible, or the
  /// file at the address is a different one.
  static Segment open(const Address& address, std::size_t size_bytes) {
    Segment segment;
    if (address.file < 0) return segment;
    const auto path =
        "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.file);
    segment.file_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (segment.file_ < 0) return segment;
    Address own = segment.address();
    own.process = address.process;
    own.file = address.file;
    if (own == address && segment.file_bytes() == size_bytes) segment.map(size_bytes);
    return segment;
  }

  /// Maps the memory once more; requires the open file.
  [[nodiscard]] Segment mapped_again() const {
    Segment segment;
    segment.file_ = file_;
    if (file_ >= 0) segment.map(size_bytes_);
    segment.file_ = -1;
    return segment;
  }

  [[nodiscard]] Address address() const {
    struct stat status{};
    if (file_ < 0 || fstat(file_, &status) != 0) return {};
    return {getpid(), file_, status.st_dev, status.st_ino};
  }

  /// Allocates pages, near this process, so that a lack of memory is noticed here and not at the
  /// first touch. Requires the open file.
  [[nodiscard]] bool reserve(std::size_t at, std::size_t size_bytes) const {
    if (memory_ == nullptr || file_ < 0) return false;
    int error = EINTR;
    while (error == EINTR)
      error = posix_fallocate(file_, static_cast<off_t>(at), static_cast<off_t>(size_bytes));
    return error == 0;
  }

  /// Closes the file, once all processes have opened it.
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
