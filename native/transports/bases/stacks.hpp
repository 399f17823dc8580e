// Stacks of many contexts in one piece of memory, of which only what is touched exists.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace nhalf {

/// `count` stacks of somewhat less than `stack_bytes` each.
class Stacks {
 public:
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;

  explicit Stacks(std::size_t count) : count_(count) {
    if (count == 0) return;
    memory_ = mmap(nullptr, count * stack_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    // A huge page holds several stacks, and would make all of each exist.
    madvise(memory_, count * stack_bytes, MADV_NOHUGEPAGE);
    if (count <= guarded_max) guard();
  }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks() {
    if (count_ > 0) munmap(memory_, count_ * stack_bytes);
  }

  /// The lowest byte of a stack.
  [[nodiscard]] std::byte* bottom(std::size_t number) const {
    return static_cast<std::byte*>(memory_) + number * stack_bytes;
  }
  /// Returns the size of a stack. The ends of stacks, where the lines in use are, have different
  /// page offsets, since a cache set holds few lines of equal offset.
  static std::size_t size_of(std::size_t number) {
    return stack_bytes - number % lines_per_page * line_bytes;
  }

 private:
  /// A page without access is a mapping of its own, of which a process has 65,530 on Linux.
  static constexpr std::size_t guarded_max = 8192;
  static constexpr std::size_t line_bytes = 64, lines_per_page = 64;

  /// Guards stacks against overflow if ranks are few; many ranks do not need it.
  void guard() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (std::size_t number = 0; number < count_; ++number)
      mprotect(bottom(number), page, PROT_NONE);
  }

  std::size_t count_;
  void* memory_ = nullptr;
};

}  // namespace nhalf
