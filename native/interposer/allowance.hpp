// SPDX-License-Identifier: Apache-2.0
// How much shared memory a program's communicators may take together, however many it makes.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

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

  /// The processes of a host, one per processor, take at most 1/64 of its memory.
  static std::size_t most_bytes() {
    const auto positive = [](long value) { return static_cast<std::size_t>(std::max(1L, value)); };
    return positive(sysconf(_SC_PHYS_PAGES)) / 64 * positive(sysconf(_SC_PAGESIZE)) /
           positive(sysconf(_SC_NPROCESSORS_ONLN));
  }

 private:
  static std::atomic<std::size_t>& spent_bytes() {
    static std::atomic<std::size_t> spent{0};
    return spent;
  }

  std::size_t taken_bytes_ = 0;
};

}  // namespace nhalf::coll
