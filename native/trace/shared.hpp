// What the threads of a process share: the memory budget of all parts of the tracer, whatever the
// program does, and a lock, which costs nothing if only one thread may call MPI at a time.
#pragma once

#include <sched.h>
#include <atomic>

#include "contract/vocabulary.hpp"
#include "preloaded/lasting.hpp"

namespace nhalf::trace {
// The memory budget of all parts of the tracer in a process, whatever the program does. A part that
// gets none keeps less and reports that.

/// The budget; with code, tables and the allocator's overhead the tracer stays below 64 MiB.
inline constexpr std::int64_t memory_most_bytes = std::int64_t{54} << 20U;
/// Reserve for cells with rounded sizes, and then for cells without partners.
inline constexpr std::int64_t memory_reserve_bytes = std::int64_t{4} << 20U;

inline constinit std::atomic<std::int64_t> memory_remaining_bytes{memory_most_bytes};

/// Takes memory from the budget; false if that would leave less than `reserve_bytes`.
inline bool take_memory(std::size_t bytes, std::int64_t reserve_bytes = memory_reserve_bytes) {
  const auto needed_bytes = static_cast<std::int64_t>(bytes);
  if (memory_remaining_bytes.fetch_sub(needed_bytes, std::memory_order_relaxed) - needed_bytes >=
      reserve_bytes)
    return true;
  memory_remaining_bytes.fetch_add(needed_bytes, std::memory_order_relaxed);
  return false;
}

inline void give_memory(std::size_t bytes) {
  memory_remaining_bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
}

inline bool threads_may_collide = false;

using preloaded::Mutex;

/// A spin lock, which does nothing unless threads may call MPI at a time.
class Lock {
 public:
  void lock() {
    if (!threads_may_collide) return;
    while (taken_.exchange(true, std::memory_order_acquire)) {
      // With oversubscription the holder of the lock may not be running.
      for (int trial = 0; taken_.load(std::memory_order_relaxed); ++trial)
        if (trial >= trials_before_yield) sched_yield();
    }
  }
  void unlock() {
    if (threads_may_collide) taken_.store(false, std::memory_order_release);
  }

 private:
  static constexpr int trials_before_yield = 100;
  std::atomic<bool> taken_{false};
};
}  // namespace nhalf::trace
