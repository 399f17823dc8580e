// The memory of a network that one process has for itself.
#pragma once

#include <sys/mman.h>

#include <new>

#include "network/heap.hpp"

namespace nhalf::network {
class Memory {
 public:
  /// Takes at most so many bytes: pages that are never touched cost nothing. Where the process may
  /// not have them (ulimit -v), it takes a quarter to half of what it may, and leaves the rest for
  /// others. Throws std::bad_alloc without address space.
  explicit Memory(std::size_t most_bytes) {
    auto heap_bytes = most_bytes;
    for (; !is_mapped(heap_bytes); heap_bytes /= 2)
      if (heap_bytes < least_bytes) throw std::bad_alloc();
    if (heap_bytes == most_bytes) return;
    munmap(memory_, bytes_);
    if (!is_mapped(heap_bytes / 2)) throw std::bad_alloc();
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { munmap(memory_, bytes_); }

  [[nodiscard]] State& state() { return *static_cast<State*>(memory_); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t least_bytes = std::size_t{1} << 24;

  /// Maps a heap of this size; whether there is address space.
  bool is_mapped(std::size_t heap_bytes) {
    bytes_ = Heap::begin + heap_bytes;
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory_ != MAP_FAILED;
  }

  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
};
}  // namespace nhalf::network
