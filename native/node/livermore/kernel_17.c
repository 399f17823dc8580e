// Computation under implicit conditions.
#include "livermore.h"

void kernel_17(long n) {
  double before = 1.0 / 3.0, next = 1.03 / 3.07;
  for (long i = n - 1; i > 0; i--) {
    double third = before * vlr[i] + vlin[i], old = vxne[i];
    vxnd[i] = next;
    double top = 5.0 / 3.0 * third;
    if (before > top || old > top) {
      next = before * vsp[i] + vstp[i];
      vxne[i] = next;
      before = next;
      ve3[i] = next;
    } else {
      ve3[i] = third;
      next = third + third - before;
      vxne[i] = third + third - old;
      before = next;
    }
  }
}
