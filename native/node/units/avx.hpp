// SPDX-License-Identifier: Apache-2.0
// Operations of x86-64 processors with fused operations, in any width; files that include this are
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
struct RootTimes {
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

/// Numbers from one half of a vector go to the other.
struct Permute {
  template <class V>
  static void apply(V& x, const V&, const V&) {
    asm("vpermpd $0x1b, %0, %0" : "+" NHALF_VECTOR_REGISTER(x));
  }
};

/// Numbers stay in their half of a vector.
struct Shuffle {
  template <class V>
  static void apply(V& x, const V& a, const V&) {
    asm("vunpcklpd %1, %0, %0" : "+" NHALF_VECTOR_REGISTER(x) : NHALF_VECTOR_REGISTER(a));
  }
};

/// All kernels of one width.
#define NHALF_AVX(bits)                                                                          \
  NHALF_SUMS(bits), NHALF_UNIT("fused", Fused, bits), NHALF_UNIT("root-times", RootTimes, bits), \
      NHALF_ACCESSES(bits)

}  // namespace
}  // namespace nhalf
