// A mapped file that grows: its addresses stay valid, and the kernel keeps its content however the
// process ends. Disk blocks are allocated before they are touched, so a full disk raises no signal.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "trace/descriptor.hpp"
#include "trace/limits.hpp"

namespace nhalf::trace {

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
