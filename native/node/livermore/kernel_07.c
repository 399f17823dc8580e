// Fragment of an equation of state.
#include "livermore.h"

void kernel_7(long n) {
  for (long k = 0; k < n; k++)
    x[k] = u[k] + r * (z[k] + r * y[k]) +
           t * (u[k + 3] + r * (u[k + 2] + r * u[k + 1]) +
                t * (u[k + 6] + q * (u[k + 5] + q * u[k + 4])));
}
