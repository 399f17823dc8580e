// A mapped file that grows: its addresses stay valid, and the kernel keeps its content however the
// process ends. Disk blocks are allocated before they are touched, so a full disk raises no signal.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "contract/vocabulary.hpp"

namespace nhalf::trace {
// Resource limits of the process: one that grows a file beyond its limit is killed by a signal, and
// one without address space gets no memory.

/// Whether a file may have `size_bytes`. The program may change its limit at any time.
inline bool may_have_bytes(std::uint64_t size_bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || size_bytes <= limit.rlim_cur);
}

/// Returns the address space that a file may map: a small share of it if it is limited.
inline std::size_t mapped_most_bytes(std::size_t wanted_bytes, std::size_t least_bytes) {
  constexpr std::size_t share = 256;
  constexpr std::size_t page_bytes = 4096;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted_bytes;
  const auto part_bytes = limit.rlim_cur / share / page_bytes * page_bytes;
  return std::min(wanted_bytes, std::max<std::size_t>(least_bytes, part_bytes));
}

/// A file that is open only as long as a function needs it: the number of open files of a process
/// is limited, and the program's own take precedence.
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

class File {
 public:
  /// Creates an empty file that may grow to `most_bytes`; `error()` returns what failed.
  File(const char* path, std::size_t most_bytes) : path_(path), most_bytes_(most_bytes) {
    const auto file = Descriptor::made(path);
    error_ = file.error();
    if (error_ != 0) return;
    void* address = mmap(nullptr, most_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                         file.number(), 0);
    if (address == MAP_FAILED)
      error_ = errno;
    else
      data_ = static_cast<std::byte*>(address);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (data_ != nullptr) munmap(data_, most_bytes_);
  }

  /// Grows the file to `size_bytes`; false if that fails.
  bool grow(std::size_t size_bytes) {
    if (error_ != 0 || size_bytes > most_bytes_) return false;
    if (size_bytes <= size_bytes_) return true;
    if (!may_have_bytes(size_bytes)) {
      error_ = EFBIG;
      return false;
    }
    const auto file = Descriptor::opened(path_.c_str());
    error_ = file.error() != 0 ? file.error()
                               : posix_fallocate(file.number(), static_cast<off_t>(size_bytes_),
                                                 static_cast<off_t>(size_bytes - size_bytes_));
    if (error_ == 0) size_bytes_ = size_bytes;
    return error_ == 0;
  }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] int error() const { return error_; }

 private:
  std::string path_;
  std::size_t most_bytes_;
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
  int error_ = 0;
};
}  // namespace nhalf::trace
