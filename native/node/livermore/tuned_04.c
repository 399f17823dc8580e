// Kernel 4 with partial results: sums that do not wait for each other.
#include "livermore.h"

void kernel_4(long n) {
  long apart = (n - 7) / 2;
  for (long k = 6; k < n; k += apart) {
    long l = k - 6, j = 4;
    double rest = x[k - 1], other = 0.0, third = 0.0, fourth = 0.0;
    for (; j + 15 < n; j += 20, l += 4) {
      rest -= x[l] * y[j];
      other -= x[l + 1] * y[j + 5];
      third -= x[l + 2] * y[j + 10];
      fourth -= x[l + 3] * y[j + 15];
    }
    for (; j < n; j += 5, l++) rest -= x[l] * y[j];
    x[k - 1] = y[4] * ((rest + other) + (third + fourth));
  }
}
