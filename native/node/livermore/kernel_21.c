// Product of matrices.
#include "livermore.h"

void kernel_21(long n) {
  for (long k = 0; k < 16; k++)
    for (long i = 0; i < 16; i++)
      for (long j = 0; j < n; j++) px[j][i] += vy[k][i] * cx[j][k];
}
