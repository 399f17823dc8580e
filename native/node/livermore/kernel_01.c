// Fragment of hydrodynamics.
#include "livermore.h"

void kernel_1(long n) {
  for (long k = 0; k < n; k++) x[k] = q + y[k] * (r * z[k + 10] + t * z[k + 11]);
}
