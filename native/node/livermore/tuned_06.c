// Kernel 6 with partial results: sums that do not wait for each other.
#include "livermore.h"

void kernel_6(long n) {
  for (long i = 1; i < n; i++) {
    double one = 0.01, other = 0.0, third = 0.0, fourth = 0.0;
    long k = 0;
    for (; k + 4 <= i; k += 4) {
      one += matrix[k][i] * w[i - k - 1];
      other += matrix[k + 1][i] * w[i - k - 2];
      third += matrix[k + 2][i] * w[i - k - 3];
      fourth += matrix[k + 3][i] * w[i - k - 4];
    }
    for (; k < i; k++) one += matrix[k][i] * w[i - k - 1];
    w[i] = (one + other) + (third + fourth);
  }
}
