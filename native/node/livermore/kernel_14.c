// Particles in cells of one dimension: their field, their motion, the charge in cells.
#include "livermore.h"

void kernel_14(long n) {
  for (long k = 0; k < n; k++) {
    ix[k] = (long)grd[k];
    xi[k] = (double)ix[k];
    ex1[k] = ex[ix[k] - 1];
    dex1[k] = dex[ix[k] - 1];
    vx[k] = 0.0;
    xx[k] = 0.0;
  }
  for (long k = 0; k < n; k++) {
    vx[k] = vx[k] + ex1[k] + (xx[k] - xi[k]) * dex1[k];
    xx[k] = xx[k] + vx[k] + flx;
    ir[k] = (long)xx[k];
    rx[k] = xx[k] - (double)ir[k];
    ir[k] = (ir[k] & 2047) + 1;
    xx[k] = rx[k] + (double)ir[k];
  }
  for (long k = 0; k < n; k++) {
    rh[ir[k] - 1] += 1.0 - rx[k];
    rh[ir[k]] += rx[k];
  }
}
