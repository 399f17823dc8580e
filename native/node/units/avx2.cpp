// SPDX-License-Identifier: Apache-2.0
// Kernels for x86-64 with vectors of 256 bits and fused operations; compiled for such processors.
#include "node/units/avx.hpp"

namespace nhalf {
namespace {

constexpr UnitKernel kernels[] = {NHALF_AVX(64), NHALF_AVX(128), NHALF_AVX(256),
                                  NHALF_UNIT("permute", Permute, 256)};

}  // namespace

UnitKernels avx2_kernels() {
  return {kernels, sizeof kernels / sizeof *kernels};
}

}  // namespace nhalf
