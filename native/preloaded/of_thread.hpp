// SPDX-License-Identifier: Apache-2.0
// One object per thread, which outlives the thread's own objects: destructors of thread-local
// objects run before those of a key, and for the main thread before static objects end.
#pragma once

#include <pthread.h>

namespace nhalf::preloaded {

/// Keeps an object per thread. `ended`, of all threads the same function, runs when a thread other
/// than the main one has ended, and again where the thread calls for its object after that.
template <class Type>
class OfThread {
 public:
  using Ended = void (*)(Type*);

  /// The thread's object; null until `keep` was called.
  [[gnu::always_inline]] static Type* find() { return object_; }

  static void keep(Type* object, Ended ended) {
    static const pthread_key_t key = [ended] {
      ended_ = ended;
      pthread_key_t made{};
      pthread_key_create(&made, [](void* kept) {
        object_ = nullptr;
        ended_(static_cast<Type*>(kept));
      });
      return made;
    }();
    object_ = object;
    pthread_setspecific(key, object);
  }

 private:
  static inline constinit thread_local Type* object_ = nullptr;
  static inline constinit Ended ended_ = nullptr;
};

}  // namespace nhalf::preloaded
