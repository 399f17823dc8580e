// Kernels for x86-64 beyond arithmetic: conversions, moves between registers, comparisons,
// shuffles, branches, and the depths of reorder buffer and scheduler.
#pragma once

#if defined(__x86_64__)

#include "node/units/loops.hpp"

namespace nhalf {
namespace {
/// Converts to an integer and back: two operations, which count as one.
struct Convert {
  static void apply(double& x, const double&, const double&) {
    std::int64_t integer = 0;
    asm("cvttsd2si %1, %0" : "=r"(integer) : "x"(x));
    asm("cvtsi2sd %1, %0" : "+x"(x) : "r"(integer));
  }
};

/// Moves to an integer register and back: two operations, which count as one.
struct Across {
  static void apply(double& x, const double&, const double&) {
    std::int64_t bits = 0;
    asm("movq %1, %0" : "=r"(bits) : "x"(x));
    asm("movq %1, %0" : "=x"(x) : "r"(bits));
  }
};

/// Compares, selects by the result, and moves back to a floating-point register.
struct Compare {
  static void apply(double& x, const double&, const double& b) {
    std::int64_t bits = 0x3ff0000000000000;
    std::int64_t larger = 0x3ff8000000000000;
    asm("ucomisd %2, %1\n\tcmovb %3, %0" : "+r"(bits) : "x"(x), "x"(b), "r"(larger) : "cc");
    asm("movq %1, %0" : "=x"(x) : "r"(bits));
  }
};

constexpr int comparisons_per_round = 16;

/// Compares without a use of the results.
void comparisons(std::uint64_t rounds, void*) {
  const double value = 1.1357;
  for (; rounds > 0; --rounds)
    asm volatile(".rept 16\n\tucomisd %0, %0\n\t.endr" : : "x"(value) : "cc");
}

struct Minimum {
  static void apply(double& x, const double& a, const double&) {
    asm("minsd %1, %0" : "+x"(x) : "x"(a));
  }
};

struct Logical {
  template <class V>
  static void apply(V& x, const V& a, const V&) {
    asm("andpd %1, %0" : "+x"(x) : "x"(a));
  }
};

struct Unpack {
  template <class V>
  static void apply(V& x, const V& a, const V&) {
    asm("unpcklpd %1, %0" : "+x"(x) : "x"(a));
  }
};

template <int chains>
void integer_multiplies(std::uint64_t rounds, void*) {
  std::uint64_t x[chains] = {};
  std::uint64_t factor = 3;
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 8
    for (int i = 0; i < steps_per_round; ++i) {
#pragma GCC unroll 8
      for (int k = 0; k < chains; ++k) asm volatile("imulq %1, %0" : "+r"(x[k]) : "r"(factor));
    }
  }
}

constexpr int jumps_per_round = 256;

/// Runs the shortest possible loop, which gives the rate of taken branches.
void jumps(std::uint64_t rounds, void*) {
  for (; rounds > 0; --rounds) {
    std::uint64_t remaining = jumps_per_round;
    asm volatile("1:\n\tdecq %0\n\tjnz 1b" : "+r"(remaining) : : "cc");
  }
}

constexpr int chain_divisions = 20;
constexpr int unitless_per_round = 400;
constexpr int waiting_per_round = 20;

/// A dependency chain of divisions before the instructions under test: how far two such chains
/// overlap gives the number of instructions in flight.
#define NHALF_AFTER_DIVISIONS(instruction)                                                \
  "movapd %[divisor], %%xmm0\n\t.rept %c[divisions]\n\tdivsd %[divisor], %%xmm0\n\t.endr" \
  "\n\t.rept %c[instructions]\n\t" instruction "\n\t.endr"

/// Instructions of a round with that many after its chain: the first one sets the dividend.
constexpr int round_instructions(int after_chain) {
  return 1 + chain_divisions + after_chain;
}

/// Measures the reorder buffer with instructions that need no unit.
void reorder_buffer(std::uint64_t rounds, void*) {
  const double divisor = 1.0001;
  for (; rounds > 0; --rounds)
    asm volatile(NHALF_AFTER_DIVISIONS("nop")
                 :
                 : [divisor] "x"(divisor), [divisions] "i"(chain_divisions),
                   [instructions] "i"(unitless_per_round)
                 : "xmm0");
}

/// Measures the scheduler with instructions that wait for the end of the chain.
void scheduler(std::uint64_t rounds, void*) {
  const double divisor = 1.0001;
  for (; rounds > 0; --rounds)
    asm volatile(NHALF_AFTER_DIVISIONS("ucomisd %%xmm0, %[divisor]")
                 :
                 : [divisor] "x"(divisor), [divisions] "i"(chain_divisions),
                   [instructions] "i"(waiting_per_round)
                 : "xmm0", "cc");
}

/// Loads a `double` whose bits are the next address: a load and half of `Across`.
void loads_across(std::uint64_t rounds, void* memory) {
  *static_cast<volatile std::uint64_t*>(memory) = 0;
  std::uint64_t place = 0;
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 8
    for (int i = 0; i < steps_per_round; ++i) {
      double loaded = 0;
      asm volatile("movsd (%1,%2), %0" : "=x"(loaded) : "r"(memory), "r"(place));
      asm volatile("movq %1, %0" : "=r"(place) : "x"(loaded));
    }
  }
}

/// Stores each `double` to another cache line than the one before.
void stores_to_other_lines(std::uint64_t rounds, void* memory) {
  volatile double* const place = static_cast<volatile double*>(memory);
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 32
    for (int i = 0; i < accesses_per_round; ++i) place[8 * i] = 1.0;
  }
}

/// A move, arithmetic on its result in the same register, and two instructions that need no unit:
/// these take four issue slots, or three if the processor fuses the first two.
#define NHALF_PAIRS(text)                                      \
  ".rept 16\n\t" text                                          \
  "\n\t.byte 0x0f, 0x1f, 0x40, 0x00, 0x0f, 0x1f, 0x40, 0x00\n" \
  "\t.endr"
constexpr int pairs_per_round = 16;

void moves_then_adds(std::uint64_t rounds, void*) {
  const double zero = 0.0;
  for (; rounds > 0; --rounds)
    asm volatile(NHALF_PAIRS("movapd %0, %%xmm1\n\tsubsd %0, %%xmm1") : : "x"(zero) : "xmm1");
}

void integer_moves_then_adds(std::uint64_t rounds, void*) {
  const std::uint64_t zero = 0;
  for (; rounds > 0; --rounds)
    asm volatile(NHALF_PAIRS("movq %0, %%rcx\n\tsubq %0, %%rcx") : : "r"(zero) : "rcx", "cc");
}

void integer_loads_then_adds(std::uint64_t rounds, void* memory) {
  const std::uint64_t zero = 0;
  for (; rounds > 0; --rounds)
    asm volatile(NHALF_PAIRS("movq (%1), %%rcx\n\tsubq %0, %%rcx")
                 :
                 : "r"(zero), "r"(memory)
                 : "rcx", "cc");
}

constexpr UnitKernel window_kernel{
    "window", 64, 1, 1, &reorder_buffer, chain_divisions, round_instructions(unitless_per_round)};
constexpr UnitKernel waiting_kernel{
    "waiting", 64, 1, 1, &scheduler, chain_divisions, round_instructions(waiting_per_round)};

#define NHALF_MOVES                                                                           \
  NHALF_UNIT("convert", Convert, 64), NHALF_UNIT("across", Across, 64),                       \
      UnitKernel{"compare", 64, many, comparisons_per_round, &comparisons},                   \
      NHALF_UNIT("compare-across", Compare, 64), NHALF_UNIT("minimum", Minimum, 64),          \
      NHALF_UNIT("logical", Logical, 128), NHALF_UNIT("shuffle", Unpack, 128),                \
      UnitKernel{"integer-multiply", 64, 1, steps_per_round, &integer_multiplies<1>},         \
      UnitKernel{"integer-multiply", 64, 8, steps_per_round * 8, &integer_multiplies<8>},     \
      UnitKernel{"taken-branch", 64, many, jumps_per_round, &jumps},                          \
      UnitKernel{"store-apart", 64, many, accesses_per_round, &stores_to_other_lines},        \
      UnitKernel{"move-then-sum", 64, many, pairs_per_round, &moves_then_adds},               \
      UnitKernel{"whole-move-then-sum", 64, many, pairs_per_round, &integer_moves_then_adds}, \
      UnitKernel{"whole-load-then-sum", 64, many, pairs_per_round, &integer_loads_then_adds}, \
      UnitKernel{"load-across", 64, 1, steps_per_round, &loads_across}, window_kernel,        \
      waiting_kernel
}  // namespace
}  // namespace nhalf

#endif
