// SPDX-License-Identifier: Apache-2.0
package npb.flow;

import npb.Fused;
import npb.Lanes;

/**
 * The right-hand side: fluxes, viscous terms, fourth-difference dissipation, and the forcing term,
 * row by row. A row's neighbours in x are copies of it that are shifted.
 */
public final class Residual {
  /** Of a site: five quantities, then what is derived of them. */
  private static final int VELOCITY = 5;
  private static final int KINETIC = 8;
  private static final int TOTAL = 9;
  private static final int PRESSURE = 10;
  private static final int ARRAYS = 11;

  private final int n;
  /** Of a row. */
  private final int length;
  private final int from;
  private final int to;
  private final double second;
  private final double central;
  private final double[][] factors;
  /** The same where the points of a row are. */
  private final double[][] rowFactors;
  /** Velocity in x, y, z, kinetic and total energy per mass, and pressure, of three planes. */
  private final double[][][][] derived;
  private final double[][] centre = new double[ARRAYS][];
  private final double[][] minus = new double[ARRAYS][];
  private final double[][] plus = new double[ARRAYS][];
  private final double[][] before;
  private final double[][] behind;
  private final double[] twoBefore;
  private final double[] twoBehind;
  private final double[][] sum = new double[Equations.QUANTITIES][];

  /** Of rows [from, to) of every plane of n^3 points. */
  public Residual(int n, int from, int to) {
    this.n = n;
    this.from = from;
    this.to = to;
    second = (n - 1.0) * (n - 1.0);
    central = 0.5 * (n - 1.0);
    factors = new FourthDifference(n).factors;
    rowFactors = new double[factors.length][Field.length(n)];
    for (int offset = 0; offset < factors.length; ++offset) {
      System.arraycopy(factors[offset], 0, rowFactors[offset], Field.X, n);
    }
    length = Field.length(n);
    derived = new double[3][ARRAYS - VELOCITY][n][length];
    before = new double[ARRAYS][length];
    behind = new double[ARRAYS][length];
    twoBefore = new double[length];
    twoBehind = new double[length];
  }

  /** The term that makes the exact solution steady: forcing = -R(exact). */
  public static void setForcing(Field exact, Field forcing) {
    final Field nothing = new Field(exact.n, 0);
    final Residual residual = new Residual(exact.n, 1, exact.n - 1);
    residual.start(exact, 1);
    for (int k = 1; k < exact.n - 1; ++k) {
      residual.plane(exact, nothing, -1, forcing, k);
    }
  }

  /** To be called before the first of several planes that follow each other. */
  public void start(Field u, int k) {
    derive(u, k - 1);
    derive(u, k);
  }

  /** r = scale (forcing + R(u)) in plane k. */
  public void plane(Field u, Field forcing, double scale, Field r, int k) {
    derive(u, k + 1);
    for (int j = from; j < to; ++j) {
      for (int m = 0; m < sum.length; ++m) {
        sum[m] = r.rows[m][k][j];
        System.arraycopy(forcing.rows[m][k][j], 0, sum[m], 0, length);
      }
      fluxes(u, j, k);
      for (int m = 0; m < sum.length; ++m) {
        dissipate(u.rows[m], j, k, scale, sum[m]);
        sum[m][Field.X + n - 1] = 0;
      }
    }
  }

  private void derive(Field u, int k) {
    final double[][][] plane = derived[k % 3];
    for (int j = from - 1; j <= to; ++j) {
      for (int q = 0; q < plane.length; ++q) {
        centre[VELOCITY + q] = plane[q][j];
      }
      for (int m = 0; m < sum.length; ++m) {
        centre[m] = u.rows[m][k][j];
      }
      deriveRow(centre, length);
    }
  }

  private static void deriveRow(double[][] site, int length) {
    final double[] density = site[0];
    final double[] mx = site[1];
    final double[] my = site[2];
    final double[] mz = site[3];
    final double[] energy = site[4];
    final double[] vx = site[VELOCITY];
    final double[] vy = site[VELOCITY + 1];
    final double[] vz = site[VELOCITY + 2];
    final double[] kinetic = site[KINETIC];
    final double[] total = site[TOTAL];
    final double[] pressure = site[PRESSURE];
    for (int i = Field.X; i < length; ++i) {
      final double mass = density[i];
      final double inverse = 1.0 / mass;
      final double x = mx[i] * inverse;
      final double y = my[i] * inverse;
      final double z = mz[i] * inverse;
      final double half = 0.5 * (x * x + y * y + z * z);
      final double e = energy[i];
      vx[i] = x;
      vy[i] = y;
      vz[i] = z;
      kinetic[i] = half;
      total[i] = e * inverse;
      pressure[i] = Equations.K2 * (e - half * mass);
    }
  }

  /** Adds what the fluxes along all directions bring into a row. */
  private void fluxes(Field u, int j, int k) {
    place(centre, u, j, k);
    for (int q = 0; q < ARRAYS; ++q) {
      System.arraycopy(centre[q], 0, before[q], 1, length - 1);
      System.arraycopy(centre[q], 1, behind[q], 0, length - 1);
    }
    add(0, before, behind);
    place(minus, u, j - 1, k);
    place(plus, u, j + 1, k);
    add(1, minus, plus);
    place(minus, u, j, k - 1);
    place(plus, u, j, k + 1);
    add(2, minus, plus);
  }

  private void place(double[][] site, Field u, int j, int k) {
    for (int m = 0; m < VELOCITY; ++m) {
      site[m] = u.rows[m][k][j];
    }
    for (int q = VELOCITY; q < ARRAYS; ++q) {
      site[q] = derived[k % 3][q - VELOCITY][j];
    }
  }

  private void add(int direction, double[][] a, double[][] b) {
    final double spread = second * Equations.diffusion(direction);
    addMass(direction + 1, spread, a, b);
    for (int m = 1; m < 4; ++m) {
      addMomentum(direction, m, spread, a, b);
    }
    addEnergy(direction, spread, a, b);
  }

  private void addMass(int normal, double spread, double[][] a, double[][] b) {
    final double[] ua = a[0];
    final double[] uc = centre[0];
    final double[] ub = b[0];
    final double[] ma = a[normal];
    final double[] mb = b[normal];
    final double[] out = sum[0];
    for (int i = Lanes.FROM; i < length; ++i) {
      final double spreading = Fused.add(-2.0, uc[i], ub[i] + ua[i]);
      out[i] = Fused.add(spread, spreading, Fused.add(-central, mb[i] - ma[i], out[i]));
    }
  }

  private void addMomentum(int direction, int m, double spread, double[][] a, double[][] b) {
    final double mu = second * Equations.viscosity(direction, m);
    final double push = m == direction + 1 ? 1.0 : 0.0;
    final double[] ua = a[m];
    final double[] uc = centre[m];
    final double[] ub = b[m];
    final double[] wa = a[VELOCITY + m - 1];
    final double[] wc = centre[VELOCITY + m - 1];
    final double[] wb = b[VELOCITY + m - 1];
    final double[] va = a[VELOCITY + direction];
    final double[] vb = b[VELOCITY + direction];
    final double[] pa = a[PRESSURE];
    final double[] pb = b[PRESSURE];
    final double[] out = sum[m];
    for (int i = Lanes.FROM; i < length; ++i) {
      final double up = ub[i];
      final double down = ua[i];
      final double viscous = Fused.add(-2.0, wc[i], wb[i] + wa[i]);
      final double spreading = Fused.add(-2.0, uc[i], up + down);
      final double flow = Fused.add(up, vb[i], Fused.add(push, pb[i] - pa[i], -down * va[i]));
      final double diffused = Fused.add(spread, spreading, Fused.add(mu, viscous, out[i]));
      out[i] = Fused.add(-central, flow, diffused);
    }
  }

  private void addEnergy(int direction, double spread, double[][] a, double[][] b) {
    final double slow = second * (Equations.VISCOSITY - Equations.CONDUCTION);
    final double square = second * Equations.VISCOSITY / 6.0;
    final double warm = second * Equations.CONDUCTION;
    final double[] ua = a[4];
    final double[] uc = centre[4];
    final double[] ub = b[4];
    final double[] va = a[VELOCITY + direction];
    final double[] vc = centre[VELOCITY + direction];
    final double[] vb = b[VELOCITY + direction];
    final double[] ka = a[KINETIC];
    final double[] kc = centre[KINETIC];
    final double[] kb = b[KINETIC];
    final double[] ta = a[TOTAL];
    final double[] tc = centre[TOTAL];
    final double[] tb = b[TOTAL];
    final double[] pa = a[PRESSURE];
    final double[] pb = b[PRESSURE];
    final double[] out = sum[4];
    for (int i = Lanes.FROM; i < length; ++i) {
      final double v = vc[i];
      final double vp = vb[i];
      final double vm = va[i];
      final double up = ub[i];
      final double um = ua[i];
      final double slowed = Fused.add(-2.0, kc[i], kb[i] + ka[i]);
      final double warmed = Fused.add(-2.0, tc[i], tb[i] + ta[i]);
      final double spreading = Fused.add(-2.0, uc[i], up + um);
      final double squares = Fused.add(vp, vp, Fused.add(vm, vm, -2.0 * (v * v)));
      final double flow = Fused.add(up + pb[i], vp, -(um + pa[i]) * vm);
      final double viscous = Fused.add(slow, slowed, Fused.add(square, squares, warm * warmed));
      final double diffused = Fused.add(spread, spreading, out[i] + viscous);
      out[i] = Fused.add(-central, flow, diffused);
    }
  }

  /** Takes the fourth differences of a quantity from its sum, which is scaled then. */
  private void dissipate(double[][][] u, int j, int k, double scale, double[] out) {
    final double[] row = u[k][j];
    System.arraycopy(row, 0, before[0], 1, length - 1);
    System.arraycopy(row, 1, behind[0], 0, length - 1);
    System.arraycopy(row, 0, twoBefore, 2, length - 2);
    System.arraycopy(row, 2, twoBehind, 0, length - 2);
    // Where there is no second neighbour, its factor is 0.
    final int low = Math.max(j - 2, 0);
    final int high = Math.min(j + 2, n - 1);
    final int under = Math.max(k - 2, 0);
    final int over = Math.min(k + 2, n - 1);
    across(u[k][low], u[k][j - 1], u[k][j + 1], u[k][high], j, out);
    across(u[under][j], u[k - 1][j], u[k + 1][j], u[over][j], k, out);
    along(row, factors[2][j] + factors[2][k], scale, out);
  }

  private void across(double[] a, double[] b, double[] d, double[] e, int at, double[] out) {
    final double fa = -factors[0][at];
    final double fb = -factors[1][at];
    final double fd = -factors[3][at];
    final double fe = -factors[4][at];
    for (int i = Lanes.FROM; i < length; ++i) {
      final double near = Fused.add(fb, b[i], Fused.add(fd, d[i], out[i]));
      out[i] = Fused.add(fa, a[i], Fused.add(fe, e[i], near));
    }
  }

  private void along(double[] row, double others, double scale, double[] out) {
    final double[] a = twoBefore;
    final double[] b = before[0];
    final double[] d = behind[0];
    final double[] e = twoBehind;
    final double[] fa = rowFactors[0];
    final double[] fb = rowFactors[1];
    final double[] fc = rowFactors[2];
    final double[] fd = rowFactors[3];
    final double[] fe = rowFactors[4];
    for (int i = Lanes.FROM; i < length; ++i) {
      final double far = Fused.add(fa[i], a[i], fe[i] * e[i]);
      final double near = Fused.add(fb[i], b[i], Fused.add(fd[i], d[i], far));
      out[i] = scale * (out[i] - Fused.add(fc[i] + others, row[i], near));
    }
  }
}
