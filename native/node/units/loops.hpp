// Loops over floating-point operations, loads and stores, for vectors of any width.
//
// Everything is in an unnamed namespace, since each file that includes this header is compiled for
// a different kind of processor.
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
/// A vector of `bits`, or a scalar.
template <int bits>
struct Vector {
  typedef double Type __attribute__((vector_size(bits / 8)));
};
template <>
struct Vector<64> {
  using Type = double;
};

/// Returns a vector whose elements all have one value.
template <int bits>
typename Vector<bits>::Type all_of(double value) {
  return typename Vector<bits>::Type{} + value;
}

/// Forces a value into a register and hides it from the optimiser.
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
/// An add whose result goes to a multiply: some processors take longer for that than for an add.
struct AddThenMultiply {
  template <class V>
  static void apply(V& x, const V& a, const V&) {
    x = x + a;
    pin(x);
    x = x * a;
  }
};
/// Divides by a value whose quotient has no short mantissa, and which returns after two steps.
struct Divide {
  template <class V>
  static void apply(V& x, const V&, const V& b) {
    x = b / x;
  }
};

/// Independent operations that keep all units busy, in registers that every x86-64 has.
#if defined(__x86_64__)
inline constexpr int many = 12;
#else
inline constexpr int many = 24;
#endif
inline constexpr int steps_per_round = 8;

/// Applies the operation once to every dependency chain.
template <class Operation, class V, int chains>
inline __attribute__((always_inline)) void step(V (&x)[chains], const V& a, const V& b) {
#pragma GCC unroll 24
  for (int i = 0; i < chains; ++i) {
    Operation::apply(x[i], a, b);
    pin(x[i]);
  }
}

/// Alternates independent adds and muls, whose rate exceeds that of either if they have separate
/// units.
template <int bits>
void adds_and_multiplies(std::uint64_t rounds, void*) {
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

/// Lists the latency and the throughput kernel of one kind of operation.
#define NHALF_UNIT(name, Operation, bits)                                                   \
  UnitKernel{name, bits, 1, steps_per_round, &arithmetic<Operation, bits, 1>}, UnitKernel { \
    name, bits, many, steps_per_round *many, &arithmetic<Operation, bits, many>             \
  }
/// Lists add, mul, div, and adds with muls.
#define NHALF_ARITHMETIC(bits)                                                    \
  NHALF_UNIT("add", Add, bits), NHALF_UNIT("multiply", Multiply, bits),           \
      NHALF_UNIT("divide", Divide, bits),                                         \
      UnitKernel{"add-then-multiply", bits, 1, steps_per_round,                   \
                 &arithmetic<AddThenMultiply, bits, 1>},                          \
      UnitKernel {                                                                \
    "add-multiply", bits, many, steps_per_round *many, &adds_and_multiplies<bits> \
  }
/// Lists loads and stores that hit the nearest cache.
#define NHALF_ACCESSES(bits)                                                     \
  UnitKernel{"load", bits, many, accesses_per_round, &loads<bits>}, UnitKernel { \
    "store", bits, many, accesses_per_round, &stores<bits>                       \
  }
}  // namespace
}  // namespace nhalf
