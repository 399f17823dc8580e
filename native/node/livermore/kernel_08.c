// Integration by alternating directions.
#include "livermore.h"

void kernel_8(long n) {
  long from = 0, to = 1;
  for (long i = 1; i < 3; i++) {
    for (long k = 1; k < n; k++) {
      du1[k] = u1[from][k + 1][i] - u1[from][k - 1][i];
      du2[k] = u2[from][k + 1][i] - u2[from][k - 1][i];
      du3[k] = u3[from][k + 1][i] - u3[from][k - 1][i];
      u1[to][k][i] = u1[from][k][i] + a11 * du1[k] + a12 * du2[k] + a13 * du3[k] +
                     sig * (u1[from][k][i + 1] - 2.0 * u1[from][k][i] + u1[from][k][i - 1]);
      u2[to][k][i] = u2[from][k][i] + a21 * du1[k] + a22 * du2[k] + a23 * du3[k] +
                     sig * (u2[from][k][i + 1] - 2.0 * u2[from][k][i] + u2[from][k][i - 1]);
      u3[to][k][i] = u3[from][k][i] + a31 * du1[k] + a32 * du2[k] + a33 * du3[k] +
                     sig * (u3[from][k][i + 1] - 2.0 * u3[from][k][i] + u3[from][k][i - 1]);
    }
  }
}
