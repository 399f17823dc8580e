// What a call of the C library would reach without this network.
#pragma once

#include <dlfcn.h>

#include <atomic>

#define NHALF_EXPORTED extern "C" __attribute__((visibility("default")))

/// The next definition of a function; null if there is none. It is found without a guard, which may
/// wait by one of these calls.
#define NHALF_NEXT(name)                                 \
  [] {                                                   \
    static constinit std::atomic<void*> cached{nullptr}; \
    void* next = cached.load(std::memory_order_relaxed); \
    if (next == nullptr) {                               \
      next = dlsym(RTLD_NEXT, #name);                    \
      cached.store(next, std::memory_order_relaxed);     \
    }                                                    \
    return reinterpret_cast<decltype(&name)>(next);      \
  }()
