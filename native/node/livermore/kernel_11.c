// Sums of all beginnings of a vector.
#include "livermore.h"

void kernel_11(long n) {
  x[0] = y[0];
  for (long k = 1; k < n; k++) x[k] = x[k - 1] + y[k];
}
