// Kernel 11 with partial results: four elements wait for one addition.
#include "livermore.h"

void kernel_11(long n) {
  double sum = y[0];
  x[0] = sum;
  long k = 1;
  for (; k + 4 <= n; k += 4) {
    double two = y[k] + y[k + 1], three = two + y[k + 2], four = two + (y[k + 2] + y[k + 3]);
    x[k] = sum + y[k];
    x[k + 1] = sum + two;
    x[k + 2] = sum + three;
    sum += four;
    x[k + 3] = sum;
  }
  for (; k < n; k++) x[k] = sum += y[k];
}
