// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// The functions that programs call. Each is a jump: to this library's own function where that
// serves the process, else to what stands behind. A call goes on with its arguments as they came,
// in registers and on the stack, so no prototype of this library can cut another one's handles.
#pragma once

#include <atomic>

#include "preloaded/chain.hpp"
#include "preloaded/jump.hpp"
#include "preloaded/library.hpp"
#include "preloaded/stepping_aside.hpp"

namespace nhalf::preloaded {

/// The answer where nothing stands behind: MPI_ERR_OTHER, whatever its number, is not 0.
inline int nothing_behind() {
  return MPI_ERR_OTHER;
}

/// Returns what stands behind this library; a function that fails where nothing does.
inline Target target_behind(const char* symbol) {
  auto target = reinterpret_cast<Target>(behind(symbol));
  return target != nullptr ? target : reinterpret_cast<Target>(&nothing_behind);
}

/// Finds where an entry leads, and keeps it.
inline Target found_once(EntryPoint& entry, const void* /*caller*/) {
  const Target target = is_served() ? entry.own : target_behind(entry.symbol);
  std::atomic_ref(entry.target).store(target, std::memory_order_relaxed);
  return target;
}

}  // namespace nhalf::preloaded

/// Exports `symbol`: the function where the process is served, whatever its prototype, else what
/// stands behind.
#define NHALF_ENTRY(symbol, function) NHALF_JUMP(symbol, function, nhalf::preloaded::found_once)

/// Makes a preloaded library: what it does, what programs are left with that it cannot serve, and
/// what it does first in those that it can.
#define NHALF_PRELOADED(purpose, left_with, serve_first)           \
  NHALF_JUMPS                                                      \
  namespace nhalf::preloaded {                                     \
  constexpr Interface own_interface{purpose, &is_served, &behind}; \
  void serve() {                                                   \
    serve_first;                                                   \
  }                                                                \
  void step_aside() {                                              \
    say_not_served(own_interface, left_with);                      \
  }                                                                \
  }                                                                \
  extern "C" __attribute__((visibility("default")))                \
  const nhalf::preloaded::Interface nhalf_preloaded = nhalf::preloaded::own_interface;
