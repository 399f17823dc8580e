// Locks, one of which costs nothing if only one thread may call MPI at a time.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>

namespace nhalf::trace {

inline bool threads_may_collide = false;

/// A lock that holds whatever thread level the program requested. std::mutex brings objects that
/// are destroyed at the end of the process.
class Mutex {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

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
