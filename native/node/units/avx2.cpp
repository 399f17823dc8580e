// SPDX-License-Identifier: Apache-2.0
// Kernels for x86-64 with vectors of 256 bits and fused operations; compiled for such processors.
#include "node/units/loops.hpp"

namespace nhalf {
namespace {

struct Fused {
  static void apply(double& x, const double& a, const double& b) {
    asm("vfmadd231sd %2, %1, %0" : "+x"(x) : "x"(a), "x"(b));
  }
  template <class V>
  static void apply(V& x, const V& a, const V& b) {
    asm("vfmadd231pd %2, %1, %0" : "+x"(x) : "x"(a), "x"(b));
  }
};
struct RootTimes {
  static void apply(double& x, const double&, const double& b) {
    asm("vsqrtsd %0, %0, %0" : "+x"(x));
    x = x * b;
  }
  template <class V>
  static void apply(V& x, const V&, const V& b) {
    asm("vsqrtpd %0, %0" : "+x"(x));
    x = x * b;
  }
};

constexpr UnitKernel kernels[] = {
    NHALF_UNIT("add", Add, 64),
    NHALF_UNIT("multiply", Multiply, 64),
    NHALF_UNIT("fused", Fused, 64),
    NHALF_UNIT("divide", Divide, 64),
    NHALF_UNIT("root-times", RootTimes, 64),
    NHALF_ACCESSES(64),
    NHALF_UNIT("add", Add, 128),
    NHALF_UNIT("multiply", Multiply, 128),
    NHALF_UNIT("fused", Fused, 128),
    NHALF_UNIT("divide", Divide, 128),
    NHALF_UNIT("root-times", RootTimes, 128),
    NHALF_ACCESSES(128),
    NHALF_UNIT("add", Add, 256),
    NHALF_UNIT("multiply", Multiply, 256),
    NHALF_UNIT("fused", Fused, 256),
    NHALF_UNIT("divide", Divide, 256),
    NHALF_UNIT("root-times", RootTimes, 256),
    NHALF_ACCESSES(256),
};

}  // namespace

UnitKernels avx2_kernels() {
  return {kernels, sizeof kernels / sizeof *kernels};
}

}  // namespace nhalf
