// The budget of shared memory for all communicators of a program.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

#include "host/memory_limit.hpp"

namespace nhalf::coll {

/// The share of one communicator in the shared memory budget of the process.
class MemoryBudget {
 public:
  MemoryBudget() = default;
  MemoryBudget(MemoryBudget&& other) noexcept
      : taken_bytes_(std::exchange(other.taken_bytes_, 0)) {}
  MemoryBudget& operator=(MemoryBudget&& other) noexcept {
    std::swap(taken_bytes_, other.taken_bytes_);
    return *this;
  }
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;
  ~MemoryBudget() { spent_bytes() -= taken_bytes_; }

  /// Takes memory from the budget; false if that exceeds it.
  [[nodiscard]] bool take(std::size_t size_bytes) {
    taken_bytes_ = size_bytes;
    return spent_bytes().fetch_add(size_bytes) + size_bytes <= most_bytes();
  }

  /// Returns the budget of one process: the processes of a host, one per processor, take at most
  /// 1/64 of its memory, or of their control group's, to which shared memory is charged.
  static std::size_t most_bytes() {
    static const std::size_t budget_bytes =
        memory_limit_bytes() / 64 /
        static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    return budget_bytes;
  }

 private:
  static std::atomic<std::size_t>& spent_bytes() {
    static std::atomic<std::size_t> spent{0};
    return spent;
  }

  std::size_t taken_bytes_ = 0;
};

}  // namespace nhalf::coll
