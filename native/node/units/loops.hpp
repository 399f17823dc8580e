// SPDX-License-Identifier: Apache-2.0
// The loops over floating-point operations, loads and stores, for vectors of any width.
//
// Everything is in an unnamed namespace, since every file that includes this is compiled for
// another kind of processor.
#pragma once

#include "node/units/kernel.hpp"

#if defined(__x86_64__)
#if defined(__AVX512F__)
#define NHALF_VECTOR_REGISTER "v"
#else
#define NHALF_VECTOR_REGISTER "x"
#endif
#elif defined(__aarch64__)
#define NHALF_VECTOR_REGISTER "w"
#elif defined(__powerpc64__)
#define NHALF_VECTOR_REGISTER "wa"
#else
#define NHALF_VECTOR_REGISTER "m"
#endif

namespace nhalf {
namespace {

/// A vector of so many bits, or a scalar.
template <int bits>
struct Vector {
  typedef double Type __attribute__((vector_size(bits / 8)));
};
template <>
struct Vector<64> {
  using Type = double;
};

/// All parts of a vector the same.
template <int bits>
typename Vector<bits>::Type all_of(double value) {
  return typename Vector<bits>::Type{} + value;
}

/// The compiler has to have it in a register here, and knows no longer what it is.
template <class V>
inline void pin(V& value) {
  asm volatile("" : "+" NHALF_VECTOR_REGISTER(value));
}

struct Add {
  template <class V>
  static void apply(V& x, const V& a, const V&) {
    x = x + a;
  }
};
struct Multiply {
  template <class V>
  static void apply(V& x, const V& a, const V&) {
    x = x * a;
  }
};
/// A sum whose result is wanted by no other sum: some processors take longer for that.
struct AddThenMultiply {
  template <class V>
  static void apply(V& x, const V& a, const V&) {
    x = x + a;
    pin(x);
    x = x * a;
  }
};
/// The quotient is no simple number, and comes back after two steps.
struct Divide {
  template <class V>
  static void apply(V& x, const V&, const V& b) {
    x = b / x;
  }
};

/// Operations under way at a time that keep all units busy, in registers that every x86-64 has.
#if defined(__x86_64__)
inline constexpr int many = 12;
#else
inline constexpr int many = 24;
#endif
inline constexpr int steps_per_round = 8;

/// One step of every chain.
template <class Operation, class V, int chains>
inline __attribute__((always_inline)) void step(V (&x)[chains], const V& a, const V& b) {
#pragma GCC unroll 24
  for (int i = 0; i < chains; ++i) {
    Operation::apply(x[i], a, b);
    pin(x[i]);
  }
}

/// Sums and products in turn, all independent: more than of either where they have units of their
/// own.
template <int bits>
void sums_and_products(std::uint64_t rounds, void*) {
  using V = typename Vector<bits>::Type;
  V a = all_of<bits>(1.0);
  pin(a);
  V x[many];
  for (int i = 0; i < many; ++i) x[i] = all_of<bits>(1.1357);
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 8
    for (int i = 0; i < steps_per_round; ++i) {
#pragma GCC unroll 24
      for (int k = 0; k < many; ++k) {
        x[k] = k % 2 == 0 ? x[k] + a : x[k] * a;
        pin(x[k]);
      }
    }
  }
}

template <class Operation, int bits, int chains>
void arithmetic(std::uint64_t rounds, void*) {
  using V = typename Vector<bits>::Type;
  V a = all_of<bits>(1.0);
  V b = all_of<bits>(1.3784612);
  pin(a);
  pin(b);
  V x[chains];
  for (int i = 0; i < chains; ++i) x[i] = all_of<bits>(1.1357);
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 8
    for (int i = 0; i < steps_per_round; ++i) step<Operation>(x, a, b);
  }
}

constexpr int accesses_per_round = 32;

template <int bits>
void loads(std::uint64_t rounds, void* memory) {
  using V = typename Vector<bits>::Type;
  const volatile V* const place = static_cast<const volatile V*>(memory);
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 32
    for (int i = 0; i < accesses_per_round; ++i) {
      V loaded = place[i];
      pin(loaded);
    }
  }
}

template <int bits>
void stores(std::uint64_t rounds, void* memory) {
  using V = typename Vector<bits>::Type;
  volatile V* const place = static_cast<volatile V*>(memory);
  V stored = all_of<bits>(1.0);
  pin(stored);
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 32
    for (int i = 0; i < accesses_per_round; ++i) place[i] = stored;
  }
}

/// A latency and a throughput of one kind of operation.
#define NHALF_UNIT(name, Operation, bits)                                                   \
  UnitKernel{name, bits, 1, steps_per_round, &arithmetic<Operation, bits, 1>}, UnitKernel { \
    name, bits, many, steps_per_round *many, &arithmetic<Operation, bits, many>             \
  }
/// Sums, products, quotients, and the first two together.
#define NHALF_SUMS(bits)                                                        \
  NHALF_UNIT("add", Add, bits), NHALF_UNIT("multiply", Multiply, bits),         \
      NHALF_UNIT("divide", Divide, bits),                                       \
      UnitKernel{"add-then-multiply", bits, 1, steps_per_round,                 \
                 &arithmetic<AddThenMultiply, bits, 1>},                        \
      UnitKernel {                                                              \
    "add-multiply", bits, many, steps_per_round *many, &sums_and_products<bits> \
  }
/// Accesses to memory that the nearest cache holds.
#define NHALF_ACCESSES(bits)                                                     \
  UnitKernel{"load", bits, many, accesses_per_round, &loads<bits>}, UnitKernel { \
    "store", bits, many, accesses_per_round, &stores<bits>                       \
  }

}  // namespace
}  // namespace nhalf
