// Buffers of GPUs that are filled and checked, as tests of every driver do.
#pragma once

#include "gpu_child.hpp"
#include "host/gpu_memory.hpp"

namespace nhalf::gpu {
/// Whether a buffer of a kind is right, after one bit of it was turned if `spoils`.
inline std::string filled(MemoryKind kind, bool spoils) {
  memory_source = memory_of(kind, 0);
  Buffer buffer(10000);
  buffer.fill(5);
  if (spoils) {
    OnHost reachable(buffer.bytes());
    reachable.bytes()[9999] ^= std::byte{1};
  }
  return buffer.holds(5) ? "right" : "wrong";
}
}  // namespace nhalf::gpu
