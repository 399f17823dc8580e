// The hint to a core between two polls of memory that another core will write.
#pragma once

namespace nhalf {

/// Leaves the core's shared units to other hardware threads for some cycles, without yielding the
/// core. On unknown processors it only keeps the compiler from removing the loop.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__ARM_ARCH_7A__)
  asm volatile("yield" ::: "memory");
#elif defined(__powerpc__)
  asm volatile("or 27, 27, 27" ::: "memory");  // Power ISA, book II: yield
#elif defined(__riscv)
  asm volatile(".4byte 0x0100000f" ::: "memory");  // pause of Zihintpause, elsewhere a fence
#else
  asm volatile("" ::: "memory");
#endif
}

}  // namespace nhalf
