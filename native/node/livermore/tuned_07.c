// Kernel 7 in vectors; u stays in registers where moving it costs less than another load.
#include "livermore.h"
#include "vectors.h"

void kernel_7(long n) {
  const double q0 = q, r0 = r, t0 = t;
  long k = 0;
  vector here = load(&u[0]), third = load(&u[3]);
  for (; k + lanes <= n; k += lanes) {
    vector next = load(&u[k + lanes]), sixth = load(&u[k + 3 + lanes]);
    vector fourth = shifted(third, sixth);
    vector near = load(&u[k + 2]) + r0 * shifted(here, next);
    vector far = load(&u[k + 5]) + q0 * fourth;
    store(&x[k], here + r0 * (load(&z[k]) + r0 * load(&y[k])) +
                     t0 * (third + r0 * near + t0 * (load(&u[k + 6]) + q0 * far)));
    here = next;
    third = sixth;
  }
  for (; k < n; k++)
    x[k] = u[k] + r0 * (z[k] + r0 * y[k]) +
           t0 * (u[k + 3] + r0 * (u[k + 2] + r0 * u[k + 1]) +
                 t0 * (u[k + 6] + q0 * (u[k + 5] + q0 * u[k + 4])));
}
