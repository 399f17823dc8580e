// nhalf-needs: MPI
// The exported functions that programs call. Each is a jump: to this library's function if it
// serves the process, else to the next library. The jump leaves arguments in registers and on the
// stack, so no prototype of this library can truncate the handles of another MPI.
#pragma once

#include <atomic>

#include "preloaded/chain.hpp"
#include "preloaded/jump.hpp"
#include "preloaded/library.hpp"
#include "preloaded/stepping_aside.hpp"

namespace nhalf::preloaded {

/// Fails a call that no other library has: MPI_ERR_OTHER, whatever its number, is not 0.
inline int nothing_behind() {
  return MPI_ERR_OTHER;
}

/// Returns the next definition after this library, or a function that fails.
inline Target target_behind(const char* symbol) {
  auto target = reinterpret_cast<Target>(behind(symbol));
  return target != nullptr ? target : reinterpret_cast<Target>(&nothing_behind);
}

/// Finds the target of an entry and stores it.
inline Target found_once(EntryPoint& entry, const void* /*caller*/) {
  const Target target = is_served() ? entry.own : target_behind(entry.symbol);
  std::atomic_ref(entry.target).store(target, std::memory_order_relaxed);
  return target;
}

}  // namespace nhalf::preloaded

/// Exports `symbol`: a jump to `function`, whatever its prototype, if the process is served, else
/// to the next definition.
#define NHALF_ENTRY(symbol, function) NHALF_JUMP(symbol, function, nhalf::preloaded::found_once)

/// Makes a preloaded library: its purpose, the message for programs that it cannot serve, and a
/// first statement for programs that it can.
#define NHALF_PRELOADED(purpose, left_with, serve_first)                  \
  NHALF_JUMPS                                                             \
  namespace nhalf::preloaded {                                            \
  constexpr Interface own_interface{purpose, &is_served, &behind,         \
                                    static_cast<int>(handles_served),     \
                                    MPI_VERSION * 1000 + MPI_SUBVERSION}; \
  bool is_served_by_another() {                                           \
    return is_served_by_another(own_interface);                           \
  }                                                                       \
  void serve() {                                                          \
    serve_first;                                                          \
  }                                                                       \
  void step_aside() {                                                     \
    say_not_served(own_interface, left_with);                             \
  }                                                                       \
  }                                                                       \
  extern "C" __attribute__((visibility("default")))                       \
  const nhalf::preloaded::Interface nhalf_preloaded = nhalf::preloaded::own_interface;
