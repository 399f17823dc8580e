package npb.lu;

import static npb.Fused.add;

import npb.flow.Equations;
import npb.flow.States;

/**
 * LU: what the changes of points mean for their neighbours, and the solution at the points
 * themselves, for points that lie side by side. Where {@code within} is 0 there is no point: what
 * is computed there is 0.
 */
final class Relaxation {
  static final double OMEGA = 1.2;

  private final double dt;
  private final double convective;
  private final double viscous;
  private int from;
  private int end;

  Relaxation(int n, double dt) {
    this.dt = dt;
    convective = dt * 0.5 * (n - 1);
    viscous = dt * (n - 1.0) * (n - 1.0);
  }

  /** What follows is computed at places [from, end) alone. */
  void setRange(int newFrom, int newEnd) {
    from = newFrom;
    end = newEnd;
  }

  /** out = dt r - omega (a + b + c). */
  void setLower(double[][] r, double[][] a, double[][] b, double[][] c, double[][] out) {
    combine(dt, r, -OMEGA, a, b, c, out);
  }

  /** out = omega (a + b + c). */
  void setUpper(double[][] a, double[][] b, double[][] c, double[][] out) {
    combine(0, out, OMEGA, a, b, c, out);
  }

  /** out = first r + second (a + b + c). */
  private void combine(
      double first, double[][] r, double second, double[][] a, double[][] b, double[][] c,
      double[][] out) {
    final double[] r0 = r[0], r1 = r[1], r2 = r[2], r3 = r[3], r4 = r[4];
    final double[] a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], a4 = a[4];
    final double[] b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3], b4 = b[4];
    final double[] c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], c4 = c[4];
    final double[] out0 = out[0], out1 = out[1], out2 = out[2], out3 = out[3], out4 = out[4];
    for (int l = from; l < end; ++l) {
      out0[l] = add(second, a0[l] + b0[l] + c0[l], first * r0[l]);
      out1[l] = add(second, a1[l] + b1[l] + c1[l], first * r1[l]);
      out2[l] = add(second, a2[l] + b2[l] + c2[l], first * r2[l]);
      out3[l] = add(second, a3[l] + b3[l] + c3[l], first * r3[l]);
      out4[l] = add(second, a4[l] + b4[l] + c4[l], first * r4[l]);
    }
  }

  /** part = whole - part. */
  void subtractFrom(double[][] whole, double[][] part) {
    final double[] w0 = whole[0], w1 = whole[1], w2 = whole[2], w3 = whole[3], w4 = whole[4];
    final double[] p0 = part[0], p1 = part[1], p2 = part[2], p3 = part[3], p4 = part[4];
    for (int l = from; l < end; ++l) {
      p0[l] = w0[l] - p0[l];
      p1[l] = w1[l] - p1[l];
      p2[l] = w2[l] - p2[l];
      p3[l] = w3[l] - p3[l];
      p4[l] = w4[l] - p4[l];
    }
  }

  /**
   * Solves the equations of the points, 1 + 2 viscous (dN/du + diffusion) summed over the
   * directions, in which central differences cancel: triangular systems. In place.
   */
  void solve(States s, double[] within, double[][] r) {
    final double spread =
        Equations.diffusion(0) + Equations.diffusion(1) + Equations.diffusion(2);
    final double diagonal = 1.0 + 2.0 * viscous * spread;
    final double mu = 2.0 * viscous * (2.0 + Equations.FOUR_THIRDS) * Equations.VISCOSITY;
    final double warm = 2.0 * viscous * 3.0 * Equations.CONDUCTION;
    final double work =
        2.0 * viscous * (10.0 / 3.0 * Equations.VISCOSITY - 3.0 * Equations.CONDUCTION);
    final double part = 1.0 / diagonal;
    final double[] r0 = r[0];
    final double[] r1 = r[1];
    final double[] r2 = r[2];
    final double[] r3 = r[3];
    final double[] r4 = r[4];
    final double[] vx = s.velocity[0];
    final double[] vy = s.velocity[1];
    final double[] vz = s.velocity[2];
    final double[] volume = s.volume;
    final double[] total = s.total;
    for (int l = from; l < end; ++l) {
      final double here = within[l];
      final double w = volume[l];
      final double x = vx[l];
      final double y = vy[l];
      final double z = vz[l];
      final double mass = r0[l] * part * here;
      final double push = mu * w;
      final double inverse = here / (diagonal + push);
      final double a = (r1[l] + push * x * mass) * inverse;
      final double b = (r2[l] + push * y * mass) * inverse;
      final double c = (r3[l] + push * z * mass) * inverse;
      final double gain = x * (a - x * mass) + y * (b - y * mass) + z * (c - z * mass);
      final double friction = work * gain - warm * total[l] * mass;
      r0[l] = mass;
      r1[l] = a;
      r2[l] = b;
      r3[l] = c;
      r4[l] = here * (r4[l] - w * friction) / (diagonal + warm * w);
    }
  }

  /**
   * (sign convective dF/du - viscous (dN/du + diffusion)) v along each direction, without the
   * matrix.
   */
  void products(
      double sign, States s, double[][] v, double[][] inX, double[][] inY, double[][] inZ) {
    momenta(sign * convective, s, v, inX, inY, inZ);
    energies(sign * convective, s, v, inX[4], inY[4], inZ[4]);
  }

  /** Of mass, too. */
  private void momenta(
      double carried, States s, double[][] v, double[][] inX, double[][] inY, double[][] inZ) {
    final double mu = -viscous * Equations.VISCOSITY;
    final double spread = -viscous * Equations.diffusion(0);
    final double spreadZ = -viscous * Equations.diffusion(2);
    final double[] v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3], v4 = v[4];
    final double[] vx = s.velocity[0], vy = s.velocity[1], vz = s.velocity[2];
    final double[] volume = s.volume, kinetic = s.kinetic;
    final double[] x0 = inX[0], x1 = inX[1], x2 = inX[2], x3 = inX[3];
    final double[] y0 = inY[0], y1 = inY[1], y2 = inY[2], y3 = inY[3];
    final double[] z0 = inZ[0], z1 = inZ[1], z2 = inZ[2], z3 = inZ[3];
    for (int l = from; l < end; ++l) {
      final double mass = v0[l];
      final double a = v1[l];
      final double b = v2[l];
      final double c = v3[l];
      final double x = vx[l];
      final double y = vy[l];
      final double z = vz[l];
      final double thin = mu * volume[l];
      final double thick = Equations.FOUR_THIRDS * thin;
      // Changes of momenta at the velocity there was; and products of two directions.
      final double movedX = add(-x, mass, a);
      final double movedY = add(-y, mass, b);
      final double movedZ = add(-z, mass, c);
      final double work = add(x, a, add(y, b, z * c));
      final double pressure = Equations.K2 * add(kinetic[l], mass, v4[l] - work);
      final double xy = add(x, b, y * movedX);
      final double yz = add(y, c, z * movedY);
      final double zx = add(z, a, x * movedZ);
      x0[l] = add(carried, a, spread * mass);
      x1[l] = add(carried, add(x, a + movedX, pressure), add(thick, movedX, spread * a));
      x2[l] = add(carried, xy, add(thin, movedY, spread * b));
      x3[l] = add(carried, zx, add(thin, movedZ, spread * c));
      y0[l] = add(carried, b, spread * mass);
      y1[l] = add(carried, xy, add(thin, movedX, spread * a));
      y2[l] = add(carried, add(y, b + movedY, pressure), add(thick, movedY, spread * b));
      y3[l] = add(carried, yz, add(thin, movedZ, spread * c));
      z0[l] = add(carried, c, spreadZ * mass);
      z1[l] = add(carried, zx, add(thin, movedX, spreadZ * a));
      z2[l] = add(carried, yz, add(thin, movedY, spreadZ * b));
      z3[l] = add(carried, add(z, c + movedZ, pressure), add(thick, movedZ, spreadZ * c));
    }
  }

  private void energies(
      double carried, States s, double[][] v, double[] outX, double[] outY, double[] outZ) {
    final double spread = -viscous * Equations.diffusion(0);
    final double spreadZ = -viscous * Equations.diffusion(2);
    final double slow = -viscous * (Equations.VISCOSITY - Equations.CONDUCTION);
    final double warm = -viscous * Equations.CONDUCTION;
    final double third = -viscous * Equations.VISCOSITY / 3.0;
    final double[] v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3], v4 = v[4];
    final double[] vx = s.velocity[0], vy = s.velocity[1], vz = s.velocity[2];
    final double[] volume = s.volume, kinetic = s.kinetic, total = s.total;
    for (int l = from; l < end; ++l) {
      final double mass = v0[l];
      final double a = v1[l];
      final double b = v2[l];
      final double c = v3[l];
      final double e = v4[l];
      final double x = vx[l];
      final double y = vy[l];
      final double z = vz[l];
      final double w = volume[l];
      final double half = kinetic[l];
      final double all = total[l];
      final double work = add(x, a, add(y, b, z * c));
      final double pushed = add(Equations.K2, add(half, mass, e - work), e);
      // What momentum along a direction carries with it: of friction, too.
      final double enthalpy = carried * add(Equations.K2, all - half, all);
      final double thin = third * w;
      final double lost = add(slow, add(-2.0 * half, mass, work), warm * add(-all, mass, e));
      final double flow = carried * pushed;
      final double damped = w * lost;
      final double rest = add(spread, e, damped);
      final double restZ = add(spreadZ, e, damped);
      outX[l] = add(flow, x, add(add(thin, x, enthalpy), add(-x, mass, a), rest));
      outY[l] = add(flow, y, add(add(thin, y, enthalpy), add(-y, mass, b), rest));
      outZ[l] = add(flow, z, add(add(thin, z, enthalpy), add(-z, mass, c), restZ));
    }
  }
}
