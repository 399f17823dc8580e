// Search for the zone of a particle.
#include "livermore.h"

// Which side of a plane, or of a surface further on, it is on: 0 on it.
static double side(long at, long n) {
  long third = n / 3;
  if (at + 2 * third < n) return plan[at] - t;
  if (at + third < n) return plan[at] - s;
  if (at < n) return plan[at] - r;
  double one = t - d[at - 2], two = s - d[at - 3], three = r - d[at - 4];
  return d[at] - (d[at - 1] * one * one + two * two + three * three);
}

void kernel_16(long n) {
  long tried = 0, seen = 0;
  for (long zones = 1; zones <= zone[0]; zones++) {
    long k = 0;
    for (; k < n; k++) {
      long at = zone[2 * n * (zones - 1) + 2 * k + 2],
           toward = zone[2 * n * (zones - 1) + 2 * k + 1];
      tried++;
      if (at == n) break;
      seen += at > n;
      double off = side(at, n);
      if (off == 0.0 || toward == 0 || (off < 0.0) != (toward < 0)) break;
    }
    if (k < n) break;
  }
  found = tried + seen;
}
