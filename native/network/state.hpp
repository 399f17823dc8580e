// What a network in virtual time knows of its ranks and of the messages on their way: plain memory
// without addresses, which processes may share. Memory that was never written is zero.
#pragma once

#include <array>
#include <cstddef>

#include "network/picoseconds.hpp"

namespace nhalf::network {
inline constexpr int ranks_max = 1024;

/// A place in bytes after the beginning of the state; processes map it at different addresses. 0 is
/// no place.
using Offset = std::uint64_t;

/// A rank's ways out and in, in a cache line of their own.
struct alignas(64) Port {
  /// Messages that have come in, in the order of their arrival.
  Offset incoming_first;
  Offset incoming_last;
  /// Messages on the way out, and when it is free for the next one.
  Offset outgoing_first;
  Offset outgoing_last;
  Picoseconds outgoing_free;
  /// When all that is on its way in could be there, and when the last message was.
  Picoseconds incoming_free;
  Picoseconds incoming_at;
  /// Messages that stream out of the rank, and into it, where those slow each other down.
  std::uint32_t streaming_out;
  std::uint32_t streaming_in;
};

struct HeapState {
  Offset top;
  Offset end;
  std::array<Offset, 192> free;
};

/// The beginning of the memory; messages lie behind it.
struct State {
  HeapState heap;
  /// When the first message on each rank's way out begins or ends, side by side because they are
  /// searched at every event.
  std::array<Picoseconds, ranks_max> flow_events;
  /// When messages began to share links otherwise than they do; 0: they do.
  Picoseconds shares_changed;
  /// What is kept of every two ranks, and of everything that messages share.
  Offset pairs;
  Offset loads;
  std::array<Port, ranks_max> ports;

  template <class Type>
  Type& at(Offset offset) {
    return *reinterpret_cast<Type*>(reinterpret_cast<std::byte*>(this) + offset);
  }
  Offset offset_of(const void* address) const {
    return static_cast<Offset>(static_cast<const std::byte*>(address) -
                               reinterpret_cast<const std::byte*>(this));
  }
};
}  // namespace nhalf::network
