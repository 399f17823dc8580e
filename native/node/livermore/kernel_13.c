// Particles in cells of two dimensions.
#include "livermore.h"

void kernel_13(long n) {
  for (long k = 0; k < n; k++) {
    long i = (long)p[k][0] & 63, j = (long)p[k][1] & 63;
    p[k][2] += b[j][i];
    p[k][3] += c[j][i];
    p[k][0] += p[k][2];
    p[k][1] += p[k][3];
    i = (long)p[k][0] & 63;
    j = (long)p[k][1] & 63;
    p[k][0] += y[i + 32];
    p[k][1] += z[j + 32];
    i += e[i + 32];
    j += f[j + 32];
    h[j][i] += 1.0;
  }
}
