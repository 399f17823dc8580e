// Transport by discrete ordinates.
#include "livermore.h"

void kernel_20(long n) {
  for (long k = 0; k < n; k++) {
    double off = y[k] - g[k] / (xx[k] + dk), share = 0.2;
    if (off != 0.0) {
      share = z[k] / off;
      if (share > t) share = t;
      if (share < s) share = s;
    }
    x[k] = ((w[k] + v[k] * share) * xx[k] + u[k]) / (vx[k] + v[k] * share);
    xx[k + 1] = (x[k] - xx[k]) * share + xx[k];
  }
}
