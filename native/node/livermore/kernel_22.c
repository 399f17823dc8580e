// Planck's distribution.
#include <math.h>
#include "livermore.h"

void kernel_22(long n) {
  u[n - 1] = 0.99 * 20.0 * v[n - 1];
  for (long k = 0; k < n; k++) {
    y[k] = u[k] / v[k];
    w[k] = x[k] / (exp(y[k]) - 1.0);
  }
}
