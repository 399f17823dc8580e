// General linear recurrence.
#include "livermore.h"

void kernel_6(long n) {
  for (long i = 1; i < n; i++) {
    w[i] = 0.01;
    for (long k = 0; k < i; k++) w[i] += matrix[k][i] * w[i - k - 1];
  }
}
