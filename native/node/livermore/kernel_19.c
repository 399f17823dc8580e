// General linear recurrence, there and back.
#include "livermore.h"

void kernel_19(long n) {
  double carried = 0.1;
  for (long k = 0; k < n; k++) {
    w[k] = u[k] + carried * v[k];
    carried = w[k] - carried;
  }
  for (long k = n - 1; k >= 0; k--) {
    w[k] = u[k] + carried * v[k];
    carried = w[k] - carried;
  }
}
