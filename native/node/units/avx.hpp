// Operations of x86-64 processors with FMA, in any width; files that include this header are
// compiled for such processors.
#pragma once

#include "node/units/loops.hpp"

namespace nhalf {
namespace {
struct Fused {
  static void apply(double& x, const double& a, const double& b) {
    asm("vfmadd231sd %2, %1, %0"
        : "+" NHALF_VECTOR_REGISTER(x)
        : NHALF_VECTOR_REGISTER(a), NHALF_VECTOR_REGISTER(b));
  }
  template <class V>
  static void apply(V& x, const V& a, const V& b) {
    asm("vfmadd231pd %2, %1, %0"
        : "+" NHALF_VECTOR_REGISTER(x)
        : NHALF_VECTOR_REGISTER(a), NHALF_VECTOR_REGISTER(b));
  }
};
struct SqrtThenMultiply {
  static void apply(double& x, const double&, const double& b) {
    asm("vsqrtsd %0, %0, %0" : "+" NHALF_VECTOR_REGISTER(x));
    x = x * b;
  }
  template <class V>
  static void apply(V& x, const V&, const V& b) {
    asm("vsqrtpd %0, %0" : "+" NHALF_VECTOR_REGISTER(x));
    x = x * b;
  }
};

/// Permutes a vector across its halves.
struct Permute {
  template <class V>
  static void apply(V& x, const V&, const V&) {
    asm("vpermpd $0x1b, %0, %0" : "+" NHALF_VECTOR_REGISTER(x));
  }
};

/// Shuffles a vector within its halves.
struct Shuffle {
  template <class V>
  static void apply(V& x, const V& a, const V&) {
    asm("vunpcklpd %1, %0, %0" : "+" NHALF_VECTOR_REGISTER(x) : NHALF_VECTOR_REGISTER(a));
  }
};

/// Lists all kernels of one width.
#define NHALF_AVX(bits)                                     \
  NHALF_ARITHMETIC(bits), NHALF_UNIT("fused", Fused, bits), \
      NHALF_UNIT("root-times", SqrtThenMultiply, bits), NHALF_ACCESSES(bits)
}  // namespace
}  // namespace nhalf
