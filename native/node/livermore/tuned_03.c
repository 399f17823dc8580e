// Kernel 3 with partial results: sums that do not wait for each other.
#include "livermore.h"
#include "vectors.h"

enum { sums = 4 };

void kernel_3(long n) {
  vector partial[sums] = {};
  long k = 0;
  for (; k + sums * lanes <= n; k += sums * lanes)
    for (int i = 0; i < sums; i++) partial[i] += load(&z[k + i * lanes]) * load(&x[k + i * lanes]);
  double sum = sum_of((partial[0] + partial[1]) + (partial[2] + partial[3]));
  for (; k < n; k++) sum += z[k] * x[k];
  q = sum;
}
