// Place of the first smallest element.
#include "livermore.h"

void kernel_24(long n) {
  long least = 0;
  for (long k = 1; k < n; k++)
    if (x[k] < x[least]) least = k;
  found = least;
}
