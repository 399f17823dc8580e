// Elimination in a tri-diagonal matrix, below the diagonal.
#include "livermore.h"

void kernel_5(long n) {
  for (long i = 1; i < n; i++) x[i] = z[i] * (y[i] - x[i - 1]);
}
