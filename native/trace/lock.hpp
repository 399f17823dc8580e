// SPDX-License-Identifier: Apache-2.0
// A lock that costs nothing where only one thread may call MPI at a time.
#pragma once

#include <sched.h>

#include <atomic>

namespace nhalf::trace {

inline bool threads_may_collide = false;

class Lock {
 public:
  void lock() {
    if (!threads_may_collide) return;
    while (taken_.exchange(true, std::memory_order_acquire)) {
      // Where threads outnumber cores its holder may not be running.
      for (int look = 0; taken_.load(std::memory_order_relaxed); ++look)
        if (look >= looks) sched_yield();
    }
  }
  void unlock() {
    if (threads_may_collide) taken_.store(false, std::memory_order_release);
  }

 private:
  static constexpr int looks = 100;
  std::atomic<bool> taken_{false};
};

}  // namespace nhalf::trace
