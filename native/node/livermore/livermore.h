// The data of the Livermore kernels, each array one of its own, and the kernels.
//
// Kernels are written from their mathematical definitions: F. H. McMahon, The Livermore Fortran
// Kernels: A Computer Test of the Numerical Performance Range, UCRL-53745, 1986. n is the length
// of the innermost loop, or of the one around it, as the definition has it.
#pragma once

// Each array begins with a line of a cache.
#define IN_LINES __attribute__((aligned(64)))

enum {
  length_max = 1024,  // of vectors
  points_max = 128,   // of kernels on several rows
  rows = 8,
  particles_max = 2048
};

extern IN_LINES double u[4 * length_max], v[4 * length_max], w[4 * length_max], x[4 * length_max];
extern IN_LINES double y[4 * length_max], z[4 * length_max], g[4 * length_max], xx[4 * length_max];
extern IN_LINES double vx[4 * length_max], matrix[64][64];
extern IN_LINES double px[length_max][16], cx[length_max][16], vy[64][64];
extern IN_LINES double u1[2][points_max][5], u2[2][points_max][5], u3[2][points_max][5];
extern IN_LINES double du1[points_max], du2[points_max], du3[points_max];
extern IN_LINES double vf[rows][points_max], vg[rows][points_max], vh[rows][points_max];
extern IN_LINES double vs[rows][points_max], vt[rows][points_max];
extern IN_LINES double za[rows][points_max], zb[rows][points_max], zm[rows][points_max];
extern IN_LINES double zp[rows][points_max], zq[rows][points_max], zr[rows][points_max];
extern IN_LINES double zu[rows][points_max], zv[rows][points_max], zz[rows][points_max];
extern IN_LINES double p[points_max][4], b[64][64], c[64][64], h[66][66];
extern IN_LINES double ex[2048], dex[2048], grd[2048], ex1[2048], dex1[2048];
extern IN_LINES double xi[2048], rx[2048], rh[2050];
extern IN_LINES double plan[4 * length_max], d[4 * length_max];
extern IN_LINES double vlr[length_max], vlin[length_max], vsp[length_max], vstp[length_max];
extern IN_LINES double vxne[length_max], vxnd[length_max], ve3[length_max];
extern IN_LINES long e[96], f[96], ix[2048], ir[2048], zone[4 * length_max];
extern double q, r, s, t, flx, dk;
extern double dm22, dm23, dm24, dm25, dm26, dm27, dm28, c0;
extern double a11, a12, a13, a21, a22, a23, a31, a32, a33, sig;
extern long found;

void kernel_1(long n);
void kernel_2(long n);
void kernel_3(long n);
void kernel_4(long n);
void kernel_5(long n);
void kernel_6(long n);
void kernel_7(long n);
void kernel_8(long n);
void kernel_9(long n);
void kernel_10(long n);
void kernel_11(long n);
void kernel_12(long n);
void kernel_13(long n);
void kernel_14(long n);
void kernel_15(long n);
void kernel_16(long n);
void kernel_17(long n);
void kernel_18(long n);
void kernel_19(long n);
void kernel_20(long n);
void kernel_21(long n);
void kernel_22(long n);
void kernel_23(long n);
void kernel_24(long n);
