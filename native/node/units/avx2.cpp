// Kernels for x86-64 with AVX2 and FMA (256 bits); compiled for such processors.
#include "node/units/avx.hpp"

namespace nhalf {
namespace {
constexpr int gathers_per_round = 16;

/// Gathers four `double` from the nearest cache.
void gathers(std::uint64_t rounds, void* memory) {
  typedef long long Places __attribute__((vector_size(32)));
  Places places = {0, 8, 16, 24};
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 16
    for (int i = 0; i < gathers_per_round; ++i) {
      Vector<256>::Type x = {};
      Places mask = {-1, -1, -1, -1};
      asm volatile("vgatherqpd %1, (%2,%3,8), %0"
                   : "+&x"(x), "+&x"(mask)
                   : "r"(memory), "x"(places));
    }
  }
}

constexpr UnitKernel kernels[] = {NHALF_AVX(64),
                                  NHALF_AVX(128),
                                  NHALF_AVX(256),
                                  NHALF_UNIT("permute", Permute, 256),
                                  NHALF_UNIT("shuffle", Shuffle, 256),
                                  {"gather", 256, many, gathers_per_round, &gathers}};
}  // namespace

UnitKernels avx2_kernels() {
  return {kernels, sizeof kernels / sizeof *kernels};
}
}  // namespace nhalf
