// SPDX-License-Identifier: Apache-2.0
// Kernels for x86-64 with vectors of 512 bits; compiled for such processors.
#include "node/units/avx.hpp"

namespace nhalf {
namespace {

constexpr UnitKernel kernels[] = {NHALF_AVX(512), NHALF_UNIT("permute", Permute, 512)};

}  // namespace

UnitKernels avx512_kernels() {
  return {kernels, sizeof kernels / sizeof *kernels};
}

}  // namespace nhalf
