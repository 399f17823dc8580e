// Explicit hydrodynamics in two dimensions.
#include "livermore.h"

static void forces(long n) {
  for (long k = 1; k < 6; k++) {
    for (long j = 1; j < n; j++) {
      za[k][j] = (zp[k + 1][j - 1] + zq[k + 1][j - 1] - zp[k][j - 1] - zq[k][j - 1]) *
                 (zr[k][j] + zr[k][j - 1]) / (zm[k][j - 1] + zm[k + 1][j - 1]);
      zb[k][j] = (zp[k][j - 1] + zq[k][j - 1] - zp[k][j] - zq[k][j]) * (zr[k][j] + zr[k - 1][j]) /
                 (zm[k][j] + zm[k][j - 1]);
    }
  }
}

static void speeds(long n) {
  for (long k = 1; k < 6; k++) {
    for (long j = 1; j < n; j++) {
      zu[k][j] += 0.0041 *
                  (za[k][j] * (zz[k][j] - zz[k][j + 1]) - za[k][j - 1] * (zz[k][j] - zz[k][j - 1]) -
                   zb[k][j] * (zz[k][j] - zz[k - 1][j]) + zb[k + 1][j] * (zz[k][j] - zz[k + 1][j]));
      zv[k][j] += 0.0041 *
                  (za[k][j] * (zr[k][j] - zr[k][j + 1]) - za[k][j - 1] * (zr[k][j] - zr[k][j - 1]) -
                   zb[k][j] * (zr[k][j] - zr[k - 1][j]) + zb[k + 1][j] * (zr[k][j] - zr[k + 1][j]));
    }
  }
}

void kernel_18(long n) {
  forces(n);
  speeds(n);
  for (long k = 1; k < 6; k++) {
    for (long j = 1; j < n; j++) {
      zr[k][j] += 0.0037 * zu[k][j];
      zz[k][j] += 0.0037 * zv[k][j];
    }
  }
}
