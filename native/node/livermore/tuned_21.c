// Kernel 21, loops interchanged and blocked: rows of px stay in registers.
#include "livermore.h"
#include "vectors.h"

enum { columns = 16, parts = columns / lanes, together = lanes == 8 ? 8 : 2 };

// Rows from `first` on, this many at a time.
static inline void multiply(long first, const int count) {
  vector sums[together][parts];
  for (int row = 0; row < count; row++)
    for (int part = 0; part < parts; part++) sums[row][part] = load(&px[first + row][part * lanes]);
  for (int k = 0; k < columns; k++)
    for (int row = 0; row < count; row++)
      for (int part = 0; part < parts; part++)
        sums[row][part] += load(&vy[k][part * lanes]) * cx[first + row][k];
  for (int row = 0; row < count; row++)
    for (int part = 0; part < parts; part++) store(&px[first + row][part * lanes], sums[row][part]);
}

void kernel_21(long n) {
  long j = 0;
  for (; j + together <= n; j += together) multiply(j, together);
  for (; j < n; j++) multiply(j, 1);
}
