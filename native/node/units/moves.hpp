// SPDX-License-Identifier: Apache-2.0
// What real numbers go through on x86-64 beside arithmetic: other registers, comparisons, places in
// a vector.
#pragma once

#if defined(__x86_64__)

#include "node/units/loops.hpp"

namespace nhalf {
namespace {

/// To a whole number and back: two operations, which count as one.
struct Convert {
  static void apply(double& x, const double&, const double&) {
    std::int64_t whole = 0;
    asm("cvttsd2si %1, %0" : "=r"(whole) : "x"(x));
    asm("cvtsi2sd %1, %0" : "+x"(x) : "r"(whole));
  }
};

/// To the registers of whole numbers and back, bit by bit: two operations, which count as one.
struct Across {
  static void apply(double& x, const double&, const double&) {
    std::int64_t bits = 0;
    asm("movq %1, %0" : "=r"(bits) : "x"(x));
    asm("movq %1, %0" : "=x"(x) : "r"(bits));
  }
};

/// A comparison, a choice by its result, and the way back of `Across`.
struct Compare {
  static void apply(double& x, const double&, const double& b) {
    std::int64_t bits = 0x3ff0000000000000;
    std::int64_t other = 0x3ff8000000000000;
    asm("ucomisd %2, %1\n\tcmovb %3, %0" : "+r"(bits) : "x"(x), "x"(b), "r"(other) : "cc");
    asm("movq %1, %0" : "=x"(x) : "r"(bits));
  }
};

constexpr int comparisons_per_round = 16;

/// Comparisons whose results nothing waits for.
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
void integer_products(std::uint64_t rounds, void*) {
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

/// The shortest loop that there is: how many branches are taken in a cycle.
void jumps(std::uint64_t rounds, void*) {
  for (; rounds > 0; --rounds) {
    std::uint64_t left = jumps_per_round;
    asm volatile("1:\n\tdecq %0\n\tjnz 1b" : "+r"(left) : : "cc");
  }
}

/// A chain of quotients comes before instructions that may only wait for its end: by how much
/// chains overlap says how many instructions are under way at a time.
#define NHALF_QUOTIENTS ".rept 20\n\tdivsd %0, %%xmm0\n\t.endr\n\t"

/// 400 instructions that need no unit.
void window(std::uint64_t rounds, void*) {
  const double divisor = 1.0001;
  for (; rounds > 0; --rounds)
    asm volatile("movapd %0, %%xmm0\n\t" NHALF_QUOTIENTS ".rept 400\n\tnop\n\t.endr"
                 :
                 : "x"(divisor)
                 : "xmm0");
}

/// 20 instructions that need the end of the chain.
void waiting(std::uint64_t rounds, void*) {
  const double divisor = 1.0001;
  for (; rounds > 0; --rounds)
    asm volatile("movapd %0, %%xmm0\n\t" NHALF_QUOTIENTS ".rept 20\n\tucomisd %%xmm0, %0\n\t.endr"
                 :
                 : "x"(divisor)
                 : "xmm0", "cc");
}

/// A real number is loaded, and its bits are the next address: a load and half of `Across`.
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

/// Stores of which each goes to another line than the one before.
void stores_apart(std::uint64_t rounds, void* memory) {
  volatile double* const place = static_cast<volatile double*>(memory);
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 32
    for (int i = 0; i < accesses_per_round; ++i) place[8 * i] = 1.0;
  }
}

/// A move, arithmetic on its result in the same register, and two instructions that need no unit:
/// four places where the processor issues, or three where it takes the first two as one.
#define NHALF_PAIRS(text)                                      \
  ".rept 16\n\t" text                                          \
  "\n\t.byte 0x0f, 0x1f, 0x40, 0x00, 0x0f, 0x1f, 0x40, 0x00\n" \
  "\t.endr"
constexpr int pairs_per_round = 16;

void moves_then_sums(std::uint64_t rounds, void*) {
  const double zero = 0.0;
  for (; rounds > 0; --rounds)
    asm volatile(NHALF_PAIRS("movapd %0, %%xmm1\n\tsubsd %0, %%xmm1") : : "x"(zero) : "xmm1");
}

void whole_moves_then_sums(std::uint64_t rounds, void*) {
  const std::uint64_t zero = 0;
  for (; rounds > 0; --rounds)
    asm volatile(NHALF_PAIRS("movq %0, %%rcx\n\tsubq %0, %%rcx") : : "r"(zero) : "rcx", "cc");
}

void whole_loads_then_sums(std::uint64_t rounds, void* memory) {
  const std::uint64_t zero = 0;
  for (; rounds > 0; --rounds)
    asm volatile(NHALF_PAIRS("movq (%1), %%rcx\n\tsubq %0, %%rcx")
                 :
                 : "r"(zero), "r"(memory)
                 : "rcx", "cc");
}

#define NHALF_MOVES                                                                         \
  NHALF_UNIT("convert", Convert, 64), NHALF_UNIT("across", Across, 64),                     \
      UnitKernel{"compare", 64, many, comparisons_per_round, &comparisons},                 \
      NHALF_UNIT("compare-across", Compare, 64), NHALF_UNIT("minimum", Minimum, 64),        \
      NHALF_UNIT("logical", Logical, 128), NHALF_UNIT("shuffle", Unpack, 128),              \
      UnitKernel{"integer-multiply", 64, 1, steps_per_round, &integer_products<1>},         \
      UnitKernel{"integer-multiply", 64, 8, steps_per_round * 8, &integer_products<8>},     \
      UnitKernel{"taken-branch", 64, many, jumps_per_round, &jumps},                        \
      UnitKernel{"store-apart", 64, many, accesses_per_round, &stores_apart},               \
      UnitKernel{"move-then-sum", 64, many, pairs_per_round, &moves_then_sums},             \
      UnitKernel{"whole-move-then-sum", 64, many, pairs_per_round, &whole_moves_then_sums}, \
      UnitKernel{"whole-load-then-sum", 64, many, pairs_per_round, &whole_loads_then_sums}, \
      UnitKernel{"load-across", 64, 1, steps_per_round, &loads_across},                     \
      UnitKernel{"window", 64, 1, 1, &window}, UnitKernel {                                 \
    "waiting", 64, 1, 1, &waiting                                                           \
  }

}  // namespace
}  // namespace nhalf

#endif
