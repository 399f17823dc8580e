// Incomplete Cholesky factors and conjugate gradients: rows are halved until one is left.
#include "livermore.h"

void kernel_2(long n) {
  long end = 0;
  for (long left = n; left > 0; left /= 2) {
    long begin = end;
    end += left;
    long i = end;
    for (long k = begin + 1; k < end; k += 2) {
      i++;
      x[i] = x[k] - v[k] * x[k - 1] - v[k + 1] * x[k + 1];
    }
  }
}
