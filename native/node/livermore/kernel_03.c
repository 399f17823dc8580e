// Inner product.
#include "livermore.h"

void kernel_3(long n) {
  double sum = 0.0;
  for (long k = 0; k < n; k++) sum += z[k] * x[k];
  q = sum;
}
