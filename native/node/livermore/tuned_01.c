// Kernel 1 in vectors; z stays in registers, so that each element is loaded once.
#include "livermore.h"
#include "vectors.h"

enum { unrolled = 4 };

void kernel_1(long n) {
  const double q0 = q, r0 = r, t0 = t;
  long k = 0;
  vector here = load(&z[10]);
  for (; k + unrolled * lanes <= n; k += unrolled * lanes)
    for (int i = 0; i < unrolled; i++) {
      const long at = k + i * lanes;
      vector next = load(&z[at + 10 + lanes]);
      store(&x[at], q0 + load(&y[at]) * (r0 * here + t0 * shifted(here, next)));
      here = next;
    }
  for (; k < n; k++) x[k] = q0 + y[k] * (r0 * z[k + 10] + t0 * z[k + 11]);
}
