// SPDX-License-Identifier: Apache-2.0
// Locks; one of them costs nothing where only one thread may call MPI at a time.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>

namespace nhalf::trace {

inline bool threads_may_collide = false;

/// One that holds whatever the program said of its threads. That of the C++ library brings objects
/// along that end with the process.
class Mutex {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

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
