// Instructions that need no execution unit, so that issue slots alone limit them.
#pragma once

#include <cstdint>

namespace nhalf {
namespace {

inline constexpr int idle_per_round = 64;

/// Executes a no-op of usual length: decoders and the micro-op cache take fewer of the shortest
/// instructions in a cycle.
inline void idle() {
#if defined(__x86_64__)
  asm volatile(".byte 0x0f, 0x1f, 0x40, 0x00");
#else
  asm volatile("nop");
#endif
}

inline void idle_rounds(std::uint64_t rounds) {
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 64
    for (int i = 0; i < idle_per_round; ++i) idle();
  }
}

}  // namespace
}  // namespace nhalf
