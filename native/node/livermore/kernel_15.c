// Speeds on a grid, by conditions on neighbours.
#include <math.h>
#include "livermore.h"

static double larger(double one, double other) {
  return one > other ? one : other;
}

void kernel_15(long n) {
  for (long j = 1; j < 6; j++) {
    for (long k = 1; k < n; k++) {
      double share = vh[j + 1][k] > vh[j][k] ? 0.053 : 0.073;
      long behind = vf[j][k] < vf[j][k - 1] ? k - 1 : k;
      double rise = larger(vh[j][behind], vh[j + 1][behind]);
      vt[j][k] = sqrt(vg[j][k] * vg[j][k] + rise * rise) * share / vf[j][behind];
      if (k + 1 < n) {
        long below = vf[j][k] < vf[j - 1][k] ? j - 1 : j;
        share = below < j ? 0.073 : 0.053;
        rise = larger(vg[below][k], vg[below][k + 1]);
        vs[j][k] = sqrt(vh[j][k] * vh[j][k] + rise * rise) * share / vf[below][k];
      } else {
        vs[j][k] = 0.0;
      }
    }
  }
}
