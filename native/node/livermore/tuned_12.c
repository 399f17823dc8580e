// Kernel 12 in vectors; y stays in registers, so that each element is loaded once.
#include "livermore.h"
#include "vectors.h"

enum { unrolled = 4 };

void kernel_12(long n) {
  long k = 0;
  vector here = load(&y[0]);
  for (; k + unrolled * lanes <= n; k += unrolled * lanes)
    for (int i = 0; i < unrolled; i++) {
      vector next = load(&y[k + (i + 1) * lanes]);
      store(&x[k + i * lanes], shifted(here, next) - here);
      here = next;
    }
  for (; k < n; k++) x[k] = y[k + 1] - y[k];
}
