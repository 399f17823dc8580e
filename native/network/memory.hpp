// The memory of a network that one process has for itself.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

#include "network/heap.hpp"
#include "network/state.hpp"

namespace nhalf::network {

class Memory {
 public:
  /// Pages that are never touched cost nothing. Throws std::bad_alloc without address space.
  explicit Memory(std::size_t heap_bytes) : bytes_(Heap::begin + heap_bytes) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { munmap(memory_, bytes_); }

  [[nodiscard]] State& state() { return *static_cast<State*>(memory_); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  void* memory_;
};

}  // namespace nhalf::network
