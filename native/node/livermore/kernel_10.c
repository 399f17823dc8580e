// Differences of predictors.
#include "livermore.h"

void kernel_10(long n) {
  for (long i = 0; i < n; i++) {
    double one = cx[i][4];
    double other = one - px[i][4];
    px[i][4] = one;
    one = other - px[i][5];
    px[i][5] = other;
    other = one - px[i][6];
    px[i][6] = one;
    one = other - px[i][7];
    px[i][7] = other;
    other = one - px[i][8];
    px[i][8] = one;
    one = other - px[i][9];
    px[i][9] = other;
    other = one - px[i][10];
    px[i][10] = one;
    one = other - px[i][11];
    px[i][11] = other;
    px[i][13] = one - px[i][12];
    px[i][12] = one;
  }
}
