// SPDX-License-Identifier: Apache-2.0
// How much shared memory a program's communicators may take together, however many it makes.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

#include "host/memory_limit.hpp"

namespace nhalf::coll {

/// What the lines of one process may take together, over all of its communicators.
class Allowance {
 public:
  Allowance() = default;
  Allowance(Allowance&& other) noexcept : taken_bytes_(std::exchange(other.taken_bytes_, 0)) {}
  Allowance& operator=(Allowance&& other) noexcept {
    std::swap(taken_bytes_, other.taken_bytes_);
    return *this;
  }
  Allowance(const Allowance&) = delete;
  Allowance& operator=(const Allowance&) = delete;
  ~Allowance() { spent_bytes() -= taken_bytes_; }

  /// False where that is too much.
  [[nodiscard]] bool take(std::size_t size_bytes) {
    taken_bytes_ = size_bytes;
    return spent_bytes().fetch_add(size_bytes) + size_bytes <= most_bytes();
  }

  /// The processes of a host, one per processor, take at most 1/64 of its memory, or of what their
  /// control group has: shared memory is charged to it.
  static std::size_t most_bytes() {
    static const std::size_t found =
        memory_limit_bytes() / 64 /
        static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    return found;
  }

 private:
  static std::atomic<std::size_t>& spent_bytes() {
    static std::atomic<std::size_t> spent{0};
    return spent;
  }

  std::size_t taken_bytes_ = 0;
};

}  // namespace nhalf::coll
