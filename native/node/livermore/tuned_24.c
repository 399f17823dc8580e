// Kernel 24 in vectors with partial results: the least number first, then where it stands.
#include "livermore.h"
#include "vectors.h"

enum { minima = 4 };

void kernel_24(long n) {
  vector partial[minima];
  double least = x[0];
  for (int i = 0; i < minima; i++) partial[i] = least - (vector){};
  long k = 0;
  for (; k + minima * lanes <= n; k += minima * lanes)
    for (int i = 0; i < minima; i++) partial[i] = lesser(load(&x[k + i * lanes]), partial[i]);
  vector all = lesser(lesser(partial[0], partial[1]), lesser(partial[2], partial[3]));
  for (int lane = 0; lane < lanes; lane++) least = all[lane] < least ? all[lane] : least;
  for (; k < n; k++) least = x[k] < least ? x[k] : least;
  for (k = 0; k + lanes <= n && !has(load(&x[k]), least); k += lanes) {
  }
  while (x[k] != least) k++;
  found = k;
}
