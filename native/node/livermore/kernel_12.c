// Differences of neighbours.
#include "livermore.h"

void kernel_12(long n) {
  for (long k = 0; k < n; k++) x[k] = y[k + 1] - y[k];
}
