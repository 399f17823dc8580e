// Kernel 23, one statement substituted into the other: what waits for za[j][k-1] is one operation.
#include "livermore.h"

void kernel_23(long n) {
  for (long j = 1; j < 6; j++) {
    double before = za[j][0];
    for (long k = 1; k < n; k++) {
      double others = za[j + 1][k] * zr[j][k] + za[j - 1][k] * zb[j][k] + za[j][k + 1] * zu[j][k];
      double ahead = 0.825 * za[j][k] + 0.175 * (others + zz[j][k]);
      before = ahead + (0.175 * zv[j][k]) * before;
      za[j][k] = before;
    }
  }
}
