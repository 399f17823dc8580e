// Objects that are never destroyed, one for all threads or one for each, and a lock for them:
// programs call MPI while static and thread-local objects are destroyed.
#pragma once

#include <pthread.h>

namespace nhalf::preloaded {

/// Returns the single object of a type, made at its first use.
template <class Type>
Type& lasting() {
  static auto* const object = new Type;
  return *object;
}

/// A lock that holds whatever thread level the program requested. std::mutex brings objects that
/// are destroyed at the end of the process.
class Mutex {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

// An object per thread that outlives the thread's own objects: destructors of thread-local objects
// run before those of a key, and in the main thread before static objects are destroyed.

/// Keeps an object per thread. `ended`, one function for all threads, runs when a thread other than
/// the main thread ends, and again if the thread sets an object after that.
template <class Type>
class OfThread {
 public:
  using Ended = void (*)(Type*);

  /// Returns the thread's object; null until `keep` was called.
  [[gnu::always_inline]] static Type* find() { return object_; }

  static void keep(Type* object, Ended ended) {
    static const pthread_key_t key = [ended] {
      ended_ = ended;
      pthread_key_t new_key{};
      pthread_key_create(&new_key, [](void* stored) {
        object_ = nullptr;
        ended_(static_cast<Type*>(stored));
      });
      return new_key;
    }();
    object_ = object;
    pthread_setspecific(key, object);
  }

 private:
  static inline constinit thread_local Type* object_ = nullptr;
  static inline constinit Ended ended_ = nullptr;
};

}  // namespace nhalf::preloaded
