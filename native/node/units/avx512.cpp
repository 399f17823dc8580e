// SPDX-License-Identifier: Apache-2.0
// Kernels for x86-64 with vectors of 512 bits; compiled for such processors.
#include "node/units/loops.hpp"

namespace nhalf {
namespace {

struct Fused {
  template <class V>
  static void apply(V& x, const V& a, const V& b) {
    asm("vfmadd231pd %2, %1, %0" : "+v"(x) : "v"(a), "v"(b));
  }
};
struct RootTimes {
  template <class V>
  static void apply(V& x, const V&, const V& b) {
    asm("vsqrtpd %0, %0" : "+v"(x));
    x = x * b;
  }
};

constexpr UnitKernel kernels[] = {
    NHALF_UNIT("add", Add, 512),
    NHALF_UNIT("multiply", Multiply, 512),
    NHALF_UNIT("fused", Fused, 512),
    NHALF_UNIT("divide", Divide, 512),
    NHALF_UNIT("root-times", RootTimes, 512),
    NHALF_ACCESSES(512),
};

}  // namespace

UnitKernels avx512_kernels() {
  return {kernels, sizeof kernels / sizeof *kernels};
}

}  // namespace nhalf
