// What the library that wraps the calls of MPI asks of the network. The two are apart because the
// wrappers are compiled for each kind of handles, and the network once.
#pragma once

#include <dlfcn.h>

#include <cstdlib>

#include "network/picoseconds.hpp"
#include "preloaded/outermost.hpp"

namespace nhalf::fabric {
using network::Picoseconds;

/// A call of MPI as the network has to know it.
struct MpiCall {
  preloaded::Caller caller;
  const char* name;
  /// Whether it may wait; a poll in vain then lasts until something comes.
  bool waits;
  /// The partner, with the special values of `Doing`.
  int peer;
  int tag;
  bool is_world;
};

/// Exported as `nhalf_fabric`.
struct Interface {
  /// Whether the process's MPI library uses the network.
  bool (*is_here)();
  int (*number)();
  int (*ranks)();
  /// MPI_Init has ended.
  void (*join)();
  /// MPI_Finalize begins, and has ended.
  void (*finish)();
  void (*leave)();
  /// Begins a call; false if it is within another one, and then `exit` is not for it.
  bool (*enter)(const MpiCall& call);
  void (*exit)();
  /// Says for whom the present call waits, where that is known only later.
  void (*wait_for)(int peer, int tag, bool is_world);
  Picoseconds (*now)();
  /// Reads the clock, which takes a moment.
  Picoseconds (*clock)();
  /// Bytes that left this rank for others, messages, and bytes that came from them.
  std::uint64_t (*sent_bytes)();
  std::uint64_t (*sent_messages)();
  std::uint64_t (*received_bytes)();
  /// Whether the rank's node has others.
  bool (*shares_node)();
  /// Ends the run for a reason.
  void (*stop)(const char* kind, const char* reason);
};

/// Returns the network; null for a process that was started without one.
inline const Interface* network() {
  static const Interface* const exported = [] {
    return std::getenv("NHALF_FABRIC") == nullptr
               ? nullptr
               : static_cast<const Interface*>(dlsym(RTLD_DEFAULT, "nhalf_fabric"));
  }();
  return exported;
}
}  // namespace nhalf::fabric
