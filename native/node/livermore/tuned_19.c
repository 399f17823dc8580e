// Kernel 19, one statement substituted into the next: what is carried takes one operation.
#include "livermore.h"

void kernel_19(long n) {
  double carried = 0.1;
  for (long k = 0; k < n; k++) {
    w[k] = u[k] + carried * v[k];
    carried = u[k] + carried * (v[k] - 1.0);
  }
  for (long k = n - 1; k >= 0; k--) {
    w[k] = u[k] + carried * v[k];
    carried = u[k] + carried * (v[k] - 1.0);
  }
}
