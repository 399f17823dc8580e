package npb.flow;

import npb.Fused;
import npb.Lanes;

/**
 * The right-hand side: fluxes, viscous terms, fourth-difference dissipation, and the forcing term,
 * row by row. A row's neighbours in x are copies of it that are shifted.
 */
public final class Residual {
  /** What is derived of the quantities of a row. */
  private static final int VELOCITY = 0;
  private static final int KINETIC = 3;
  private static final int TOTAL = 4;
  private static final int PRESSURE = 5;
  private static final int DERIVED = 6;

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
  /** Sites that are taken together: quantities, then what is derived of them. */
  private final double[][] before;
  private final double[][] beforeDerived;
  private final double[][] behind;
  private final double[][] behindDerived;
  private final double[][] twoBefore;
  private final double[][] twoBehind;

  /** Of rows [from, to) of every plane of n^3 points. */
  public Residual(int n, int from, int to) {
    this.n = n;
    this.from = from;
    this.to = to;
    second = (n - 1.0) * (n - 1.0);
    central = 0.5 * (n - 1.0);
    length = Field.length(n);
    factors = new FourthDifference(n).factors;
    rowFactors = new double[factors.length][length];
    for (int offset = 0; offset < factors.length; ++offset) {
      System.arraycopy(factors[offset], 0, rowFactors[offset], Field.X, n);
    }
    derived = new double[3][n][DERIVED][length];
    before = new double[Equations.QUANTITIES][length];
    beforeDerived = new double[DERIVED][length];
    behind = new double[Equations.QUANTITIES][length];
    behindDerived = new double[DERIVED][length];
    twoBefore = new double[Equations.QUANTITIES][length];
    twoBehind = new double[Equations.QUANTITIES][length];
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
      final double[][] out = r.rows[k][j];
      for (int m = 0; m < out.length; ++m) {
        System.arraycopy(forcing.rows[k][j][m], 0, out[m], 0, length);
      }
      fluxes(u.rows, j, k, out);
      for (int m = 0; m < out.length; ++m) {
        dissipate(u.rows, j, k, m, scale, out[m]);
        out[m][Field.X + n - 1] = 0;
      }
    }
  }

  private void derive(Field u, int k) {
    for (int j = from - 1; j <= to; ++j) {
      derive(u.rows[k][j], derived[k % 3][j], length);
    }
  }

  private static void derive(double[][] quantities, double[][] derived, int length) {
    final double[] density = quantities[0];
    final double[] mx = quantities[1];
    final double[] my = quantities[2];
    final double[] mz = quantities[3];
    final double[] energy = quantities[4];
    final double[] vx = derived[VELOCITY];
    final double[] vy = derived[VELOCITY + 1];
    final double[] vz = derived[VELOCITY + 2];
    final double[] kinetic = derived[KINETIC];
    final double[] total = derived[TOTAL];
    final double[] pressure = derived[PRESSURE];
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
  private void fluxes(double[][][][] u, int j, int k, double[][] out) {
    final double[][] row = u[k][j];
    final double[][][] plane = derived[k % 3];
    shift(row, 1, before, behind);
    shift(row, 2, twoBefore, twoBehind);
    shift(plane[j], 1, beforeDerived, behindDerived);
    add(0, before, beforeDerived, row, plane[j], behind, behindDerived, out);
    add(1, u[k][j - 1], plane[j - 1], row, plane[j], u[k][j + 1], plane[j + 1], out);
    final double[][] under = derived[(k + 2) % 3][j];
    final double[][] over = derived[(k + 1) % 3][j];
    add(2, u[k - 1][j], under, row, plane[j], u[k + 1][j], over, out);
  }

  /** Copies of a row, in which points so far before and behind are at the place of a point. */
  private void shift(double[][] row, int by, double[][] low, double[][] high) {
    for (int q = 0; q < row.length; ++q) {
      System.arraycopy(row[q], 0, low[q], by, length - by);
      System.arraycopy(row[q], by, high[q], 0, length - by);
    }
  }

  private void add(
      int direction, double[][] ua, double[][] da, double[][] uc, double[][] dc,
      double[][] ub, double[][] db, double[][] sums) {
    addMomenta(direction, ua, da, uc, dc, ub, db, sums);
    addEnergy(direction, ua, da, uc, dc, ub, db, sums);
  }

  /** Mass and momenta, of which that along the direction comes first. */
  private void addMomenta(
      int direction, double[][] ua, double[][] da, double[][] uc, double[][] dc,
      double[][] ub, double[][] db, double[][] sums) {
    final int next = (direction + 1) % 3;
    final int last = (direction + 2) % 3;
    final double spread = second * Equations.diffusion(direction);
    final double mu = second * Equations.VISCOSITY;
    final double more = mu * Equations.FOUR_THIRDS;
    final double carried = -central;
    final double[] u0a = ua[0], u0c = uc[0], u0b = ub[0];
    final double[] una = ua[1 + direction], unc = uc[1 + direction], unb = ub[1 + direction];
    final double[] usa = ua[1 + next], usc = uc[1 + next], usb = ub[1 + next];
    final double[] uta = ua[1 + last], utc = uc[1 + last], utb = ub[1 + last];
    final double[] vna = da[direction], vnc = dc[direction], vnb = db[direction];
    final double[] vsa = da[next], vsc = dc[next], vsb = db[next];
    final double[] vta = da[last], vtc = dc[last], vtb = db[last];
    final double[] pa = da[PRESSURE], pb = db[PRESSURE];
    final double[] mass = sums[0];
    final double[] along = sums[1 + direction];
    final double[] across = sums[1 + next];
    final double[] beside = sums[1 + last];
    for (int i = Lanes.FROM; i < length; ++i) {
      final double va = -vna[i];
      final double vb = vnb[i];
      final double na = una[i];
      final double nb = unb[i];
      final double sa = usa[i];
      final double sb = usb[i];
      final double ta = uta[i];
      final double tb = utb[i];
      final double flow = Fused.add(nb, vb, Fused.add(na, va, pb[i] - pa[i]));
      final double gain = Fused.add(more, curved(vna[i], vnc[i], vb), along[i]);
      final double gainAcross = Fused.add(mu, curved(vsa[i], vsc[i], vsb[i]), across[i]);
      final double gainBeside = Fused.add(mu, curved(vta[i], vtc[i], vtb[i]), beside[i]);
      final double spread0 = Fused.add(spread, curved(u0a[i], u0c[i], u0b[i]), mass[i]);
      final double spreadN = Fused.add(spread, curved(na, unc[i], nb), gain);
      final double spreadS = Fused.add(spread, curved(sa, usc[i], sb), gainAcross);
      final double spreadT = Fused.add(spread, curved(ta, utc[i], tb), gainBeside);
      mass[i] = Fused.add(carried, nb - na, spread0);
      along[i] = Fused.add(carried, flow, spreadN);
      across[i] = Fused.add(carried, Fused.add(sb, vb, sa * va), spreadS);
      beside[i] = Fused.add(carried, Fused.add(tb, vb, ta * va), spreadT);
    }
  }

  private void addEnergy(
      int direction, double[][] ua, double[][] da, double[][] uc, double[][] dc,
      double[][] ub, double[][] db, double[][] sums) {
    final double spread = second * Equations.diffusion(direction);
    final double slow = second * (Equations.VISCOSITY - Equations.CONDUCTION);
    final double square = second * Equations.VISCOSITY / 6.0;
    final double warm = second * Equations.CONDUCTION;
    final double carried = -central;
    final double[] e = ua[4], ec = uc[4], eb = ub[4];
    final double[] va = da[direction], vc = dc[direction], vb = db[direction];
    final double[] ka = da[KINETIC], kc = dc[KINETIC], kb = db[KINETIC];
    final double[] ta = da[TOTAL], tc = dc[TOTAL], tb = db[TOTAL];
    final double[] pa = da[PRESSURE], pb = db[PRESSURE];
    final double[] out = sums[4];
    for (int i = Lanes.FROM; i < length; ++i) {
      final double v = vc[i];
      final double vp = vb[i];
      final double vm = va[i];
      final double up = eb[i];
      final double um = e[i];
      final double squares = Fused.add(vp, vp, Fused.add(vm, vm, -2.0 * (v * v)));
      final double flow = Fused.add(up + pb[i], vp, -(um + pa[i]) * vm);
      final double warmed = Fused.add(warm, curved(ta[i], tc[i], tb[i]), out[i]);
      final double slowed = Fused.add(slow, curved(ka[i], kc[i], kb[i]), warmed);
      final double viscous = Fused.add(square, squares, slowed);
      final double diffused = Fused.add(spread, curved(um, ec[i], up), viscous);
      out[i] = Fused.add(carried, flow, diffused);
    }
  }

  /** The second difference. */
  private static double curved(double a, double c, double b) {
    return Fused.add(-2.0, c, a + b);
  }

  /** Takes the fourth differences of a quantity from its sum, which is scaled then. */
  private void dissipate(
      double[][][][] u, int j, int k, int m, double scale, double[] out) {
    // Where there is no second neighbour, its factor is 0.
    final double[] y0 = u[k][Math.max(j - 2, 0)][m];
    final double[] y1 = u[k][j - 1][m];
    final double[] y3 = u[k][j + 1][m];
    final double[] y4 = u[k][Math.min(j + 2, n - 1)][m];
    final double[] z0 = u[Math.max(k - 2, 0)][j][m];
    final double[] z1 = u[k - 1][j][m];
    final double[] z3 = u[k + 1][j][m];
    final double[] z4 = u[Math.min(k + 2, n - 1)][j][m];
    final double fy0 = factors[0][j], fy1 = factors[1][j];
    final double fy3 = factors[3][j], fy4 = factors[4][j];
    final double fz0 = factors[0][k], fz1 = factors[1][k];
    final double fz3 = factors[3][k], fz4 = factors[4][k];
    final double others = factors[2][j] + factors[2][k];
    final double[] x = u[k][j][m];
    final double[] fx0 = rowFactors[0];
    final double[] fx1 = rowFactors[1];
    final double[] fx2 = rowFactors[2];
    final double[] fx3 = rowFactors[3];
    final double[] fx4 = rowFactors[4];
    final double[] x0 = twoBefore[m];
    final double[] x1 = before[m];
    final double[] x3 = behind[m];
    final double[] x4 = twoBehind[m];
    for (int i = Lanes.FROM; i < length; ++i) {
      final double low = Fused.add(fx0[i], x0[i], fx1[i] * x1[i]);
      final double inX = Fused.add(fx3[i], x3[i], Fused.add(fx4[i], x4[i], low));
      final double inY =
          Fused.add(fy0, y0[i], Fused.add(fy1, y1[i], Fused.add(fy3, y3[i], fy4 * y4[i])));
      final double inZ =
          Fused.add(fz0, z0[i], Fused.add(fz1, z1[i], Fused.add(fz3, z3[i], fz4 * z4[i])));
      final double around = Fused.add(fx2[i] + others, x[i], inX) + (inY + inZ);
      out[i] = scale * (out[i] - around);
    }
  }
}
