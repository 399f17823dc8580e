// Kernels for x86-64 with AVX-512; compiled for such processors.
#include "node/units/avx.hpp"

namespace nhalf {
namespace {
typedef long long Places __attribute__((vector_size(64)));
constexpr int gathers_per_round = 16;

/// Gathers eight `double` from the nearest cache.
void gathers(std::uint64_t rounds, void* memory) {
  Places places = {0, 8, 16, 24, 32, 40, 48, 56};
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 16
    for (int i = 0; i < gathers_per_round; ++i) {
      Vector<512>::Type x;
      asm volatile(
          "vxorpd %x0, %x0, %x0\n\tkxnorw %%k1, %%k1, %%k1\n\t"
          "vgatherqpd (%1,%2,8), %0 %{%%k1%}"
          : "=&v"(x)
          : "r"(memory), "v"(places)
          : "k1");
    }
  }
}

/// Scatters eight `double` to the nearest cache.
void scatters(std::uint64_t rounds, void* memory) {
  Places places = {0, 8, 16, 24, 32, 40, 48, 56};
  Vector<512>::Type x = all_of<512>(1.0);
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 16
    for (int i = 0; i < gathers_per_round; ++i) {
      asm volatile("kxnorw %%k1, %%k1, %%k1\n\tvscatterqpd %0, (%1,%2,8) %{%%k1%}"
                   :
                   : "v"(x), "r"(memory), "v"(places)
                   : "k1", "memory");
    }
  }
}

constexpr UnitKernel kernels[] = {NHALF_AVX(512),
                                  NHALF_UNIT("permute", Permute, 512),
                                  NHALF_UNIT("shuffle", Shuffle, 512),
                                  {"gather", 512, many, gathers_per_round, &gathers},
                                  {"scatter", 512, many, gathers_per_round, &scatters}};
}  // namespace

UnitKernels avx512_kernels() {
  return {kernels, sizeof kernels / sizeof *kernels};
}
}  // namespace nhalf
