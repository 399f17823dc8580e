// Implicit hydrodynamics in two dimensions.
#include "livermore.h"

void kernel_23(long n) {
  for (long j = 1; j < 6; j++) {
    for (long k = 1; k < n; k++) {
      double next = za[j + 1][k] * zr[j][k] + za[j - 1][k] * zb[j][k] + za[j][k + 1] * zu[j][k] +
                    za[j][k - 1] * zv[j][k] + zz[j][k];
      za[j][k] += 0.175 * (next - za[j][k]);
    }
  }
}
