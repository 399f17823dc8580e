// Banded linear equations: three rows.
#include "livermore.h"

void kernel_4(long n) {
  long apart = (n - 7) / 2;
  for (long k = 6; k < n; k += apart) {
    long l = k - 6;
    double rest = x[k - 1];
    for (long j = 4; j < n; j += 5) {
      rest -= x[l] * y[j];
      l++;
    }
    x[k - 1] = y[4] * rest;
  }
}
