// Memory for messages that shall not lie in a cache because the message before lay there.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "contract/buffer.hpp"

namespace nhalf {

/// Memory that is used from front to end, one message after the other, and then again.
///
/// It stays from point to point, so that pages are made once per process and a point costs no more
/// than its messages.
class Arena {
 public:
  /// The arena `number` of a rank; ranks may share a process.
  static Arena& of(int rank, int number) {
    static std::mutex mutex;
    static std::map<std::pair<int, int>, Arena> all;
    const std::lock_guard lock(mutex);
    return all[{rank, number}];
  }

  /// From now on the first `size_bytes` are used, which grow as needed. Throws std::bad_alloc.
  void use(std::size_t size_bytes) {
    // What is too small goes first: both together might not fit.
    if (size_bytes > buffer_.bytes().size()) {
      buffer_ = Buffer(0);
      buffer_ = Buffer(size_bytes);
    }
    used_ = buffer_.bytes().first(size_bytes);
  }

  /// The place of the next message, on a multiple of 8 bytes; never larger than what is in use.
  Bytes next(std::size_t size_bytes) {
    if (at_ + size_bytes > used_.size()) at_ = 0;
    const auto place = used_.subspan(at_, size_bytes);
    at_ += (size_bytes + 7) / 8 * 8;
    return place;
  }

  /// All that is in use.
  [[nodiscard]] Bytes bytes() const { return used_; }

 private:
  Buffer buffer_{0};
  Bytes used_;
  std::size_t at_ = 0;
};

}  // namespace nhalf
