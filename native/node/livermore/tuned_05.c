// Kernel 5, each iteration substituted into the next: the chain has one step for two elements.
#include "livermore.h"

void kernel_5(long n) {
  double before = x[0];
  long i = 1;
  for (; i + 1 < n; i += 2) {
    double own = z[i] * y[i], next = z[i + 1] * (y[i + 1] - own);
    x[i] = own - z[i] * before;
    before = next + (z[i + 1] * z[i]) * before;
    x[i + 1] = before;
  }
  if (i < n) x[i] = z[i] * (y[i] - before);
}
