// Runs the Livermore kernels: fills the data, checks, and times passes.
//
// driver [KERNEL [LENGTH [SAMPLES [SECONDS [FILE]]]]] prints a line of JSON per kernel, 0: all.
// It says how often the innermost loops run in a pass, the check sum after one pass, the time of a
// pass in each sample, and the clock of the processor while it lasted. Made with NHALF_TRACE from
// kernels that record their instructions, it writes these records to FILE instead.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "livermore.h"
#ifdef NHALF_TRACE
#include "trace.h"
#else
#include "samples.h"
#endif

double u[4 * length_max], v[4 * length_max], w[4 * length_max], x[4 * length_max];
double y[4 * length_max], z[4 * length_max], g[4 * length_max], xx[4 * length_max];
double vx[4 * length_max], matrix[64][64];
double px[length_max][16], cx[length_max][16], vy[64][64];
double u1[2][points_max][5], u2[2][points_max][5], u3[2][points_max][5];
double du1[points_max], du2[points_max], du3[points_max];
double vf[rows][points_max], vg[rows][points_max], vh[rows][points_max];
double vs[rows][points_max], vt[rows][points_max];
double za[rows][points_max], zb[rows][points_max], zm[rows][points_max];
double zp[rows][points_max], zq[rows][points_max], zr[rows][points_max];
double zu[rows][points_max], zv[rows][points_max], zz[rows][points_max];
double p[points_max][4], b[64][64], c[64][64], h[66][66];
double ex[2048], dex[2048], grd[2048], ex1[2048], dex1[2048];
double xi[2048], rx[2048], rh[2050];
double plan[4 * length_max], d[4 * length_max];
double vlr[length_max], vlin[length_max], vsp[length_max], vstp[length_max];
double vxne[length_max], vxnd[length_max], ve3[length_max];
long e[96], f[96], ix[2048], ir[2048], zone[4 * length_max];
double q, r, s, t, flx, dk;
double dm22, dm23, dm24, dm25, dm26, dm27, dm28, c0;
double a11, a12, a13, a21, a22, a23, a31, a32, a33, sig;
long found;

struct kernel {
  void (*pass)(long);
  long length, length_least, length_most;
  double* result;  // what is summed up, so many
  long results;
};

#define SUMMED(array) &array[0], (long)(sizeof array / sizeof array[0])
#define SUMMED_ROWS(array) &array[0][0], (long)(sizeof array / sizeof array[0][0])
#define SUMMED_PLANES(array) &array[0][0][0], (long)(sizeof array / sizeof array[0][0][0])
static const struct kernel kernels[] = {
    {kernel_1, 1001, 1, 1001, SUMMED(x)},       {kernel_2, 101, 2, 1001, SUMMED(x)},
    {kernel_3, 1001, 1, 1001, &q, 1},           {kernel_4, 1001, 9, 1001, SUMMED(x)},
    {kernel_5, 1001, 2, 1001, SUMMED(x)},       {kernel_6, 64, 2, 64, SUMMED(w)},
    {kernel_7, 995, 1, 995, SUMMED(x)},         {kernel_8, 100, 2, 126, SUMMED_PLANES(u1)},
    {kernel_9, 101, 1, 1001, SUMMED_ROWS(px)},  {kernel_10, 101, 1, 1001, SUMMED_ROWS(px)},
    {kernel_11, 1001, 2, 1001, SUMMED(x)},      {kernel_12, 1000, 1, 1000, SUMMED(x)},
    {kernel_13, 64, 1, 128, SUMMED_ROWS(h)},    {kernel_14, 1001, 1, 1001, SUMMED(rh)},
    {kernel_15, 101, 2, 126, SUMMED_ROWS(vt)},  {kernel_16, 75, 10, 75, SUMMED(plan)},
    {kernel_17, 101, 2, 1001, SUMMED(vxne)},    {kernel_18, 100, 2, 126, SUMMED_ROWS(zr)},
    {kernel_19, 101, 1, 1001, SUMMED(w)},       {kernel_20, 1000, 1, 1000, SUMMED(xx)},
    {kernel_21, 101, 1, 1001, SUMMED_ROWS(px)}, {kernel_22, 101, 1, 1001, SUMMED(w)},
    {kernel_23, 100, 2, 126, SUMMED_ROWS(za)},  {kernel_24, 1001, 2, 1001, SUMMED(x)},
};
enum { kernels_count = sizeof kernels / sizeof kernels[0] };

static unsigned long state;

// Between 0 and 1, always the same ones (D. H. Lehmer's generator).
static double next_number(void) {
  state = state * 48271UL % 2147483647UL;
  return (double)state / 2147483647.0;
}

static void fill(double* array, long count, double low, double high) {
  for (long i = 0; i < count; i++) array[i] = low + (high - low) * next_number();
}

#define FILL(array, low, high) fill((double*)(array), (long)(sizeof array / 8), low, high)

static void fill_grids(void) {
  FILL(u1, 0, 1), FILL(u2, 0, 1), FILL(u3, 0, 1);
  FILL(du1, 0, 1), FILL(du2, 0, 1), FILL(du3, 0, 1);
  FILL(vf, 0.5, 1), FILL(vg, 0, 1), FILL(vh, 0, 1), FILL(vs, 0, 1), FILL(vt, 0, 1);
  FILL(za, 0, 0.1), FILL(zb, 0, 0.2), FILL(zm, 1, 2), FILL(zp, 0, 0.1), FILL(zq, 0, 0.1);
  FILL(zr, 0, 0.2), FILL(zu, 0, 0.2), FILL(zv, 0, 0.2), FILL(zz, 0, 0.2);
}

static void fill_particles(void) {
  FILL(p, 0, 60), FILL(b, 0, 1), FILL(c, 0, 1), FILL(h, 0, 0);
  FILL(ex, 0, 1), FILL(dex, 0, 0.01), FILL(grd, 1, 2000), FILL(rh, 0, 0);
  FILL(ex1, 0, 1), FILL(dex1, 0, 1), FILL(xi, 0, 1), FILL(rx, 0, 1);
  for (long i = 0; i < 96; i++) e[i] = f[i] = i % 2;
  for (long i = 0; i < 2048; i++) ix[i] = ir[i] = 1;
  FILL(plan, 1.1, 2), FILL(d, 20, 30);
  zone[0] = 5;
  for (long i = 1; i < 4 * length_max; i++) zone[i] = i % 2 ? 1 : 1 + i % 60;
}

// The data as before any kernel; recurrences stay bounded.
static void prepare(void) {
  state = 12345;
  FILL(u, 0.01, 0.1), FILL(v, 0.2, 0.4), FILL(w, 0, 0.1), FILL(x, 0, 1), FILL(y, 0, 0.1);
  FILL(z, 0, 0.1), FILL(g, 0, 0.1), FILL(xx, 0.1, 0.5), FILL(vx, 1, 2);
  FILL(matrix, 0, 0.01), FILL(px, 0, 0.1), FILL(cx, 0, 0.1), FILL(vy, 0, 0.1);
  fill_grids();
  fill_particles();
  FILL(vlr, 0, 0.5), FILL(vlin, 0, 0.5), FILL(vsp, 0, 0.5), FILL(vstp, 0, 0.5);
  FILL(vxne, 0, 1), FILL(vxnd, 0, 1), FILL(ve3, 0, 1);
  q = 0.5, r = 0.3, s = 0.02, t = 0.4, flx = 0.001, dk = 0.2;
  dm22 = 0.2, dm23 = 0.25, dm24 = 0.3, dm25 = 0.35, dm26 = 0.4, dm27 = 0.45, dm28 = 0.5, c0 = 0.1;
  a11 = 0.1, a12 = 0.2, a13 = 0.3, a21 = 0.4, a22 = 0.5, a23 = 0.6, a31 = 0.7, a32 = 0.8, a33 = 0.9;
  sig = 0.05, found = 0;
}

// How often each innermost loop of a kernel runs in a pass.
static long iterations(int number, long n) {
  long apart = (n - 7) / 2, count = 0;
  switch (number) {
    case 2:
      for (long remaining = n; remaining > 0; remaining /= 2) count += remaining / 2;
      return count;
    case 4:
      for (long k = 6; k < n; k += apart) count += n > 4 ? (n - 4 + 4) / 5 : 0;
      return count;
    case 6:
      return n * (n - 1) / 2;
    case 8:
      return 2 * (n - 1);
    case 15:
    case 18:
    case 23:
      return 5 * (n - 1);
    case 21:
      return 256 * n;
    case 5:
    case 11:
    case 17:
    case 24:
      return n - 1;
    default:
      return n;
  }
}

static double summed(const struct kernel* kernel) {
  double sum = (double)found;
  for (long i = 0; i < kernel->results; i++) sum += kernel->result[i] * (double)(i % 7 + 1);
  return sum;
}

// How long a pass is asked for, or where its records go.
struct effort {
  int samples;
  double batch_s;
  const char* path;
};

static void run(int number, long length, struct effort effort) {
  const struct kernel* kernel = &kernels[number - 1];
  long n = length ? length : kernel->length;
  if (n < kernel->length_least) n = kernel->length_least;
  if (n > kernel->length_most) n = kernel->length_most;
  prepare();
  kernel->pass(n);
  printf("{\"kernel\":%d,\"length\":%ld,\"iterations\":%ld,\"sum\":%.12e,", number, n,
         iterations(number, n), summed(kernel));
#ifdef NHALF_TRACE
  trace_pass(kernel->pass, n, prepare, effort.path);
#else
  print_samples(kernel->pass, n, prepare, effort.samples, effort.batch_s);
#endif
}

int main(int count, char** words) {
  int number = count > 1 ? atoi(words[1]) : 0;
  long length = count > 2 ? atol(words[2]) : 0;
  struct effort effort = {count > 3 ? atoi(words[3]) : 5, count > 4 ? atof(words[4]) : 0.002,
                          count > 5 ? words[5] : "trace"};
  if (number < 0 || number > kernels_count || effort.samples < 1 || length < 0) {
    fprintf(stderr, "driver [KERNEL 1-%d, 0: all [LENGTH [SAMPLES [SECONDS [FILE]]]]]\n",
            kernels_count);
    return 2;
  }
  for (int candidate = 1; candidate <= kernels_count; candidate++)
    if (!number || candidate == number) run(candidate, length, effort);
  return 0;
}
