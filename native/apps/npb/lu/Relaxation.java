// SPDX-License-Identifier: Apache-2.0
package npb.lu;

import npb.flow.Equations;
import npb.flow.States;

/**
 * LU: what the changes of points mean for their neighbours, and the solution at the points
 * themselves, for points that lie side by side: [from, to) of all arrays.
 */
final class Relaxation {
  static final double OMEGA = 1.2;

  private final double convective;
  private final double viscous;
  /** First-order changes of velocities, total energy per mass and pressure. */
  private final double[][] change;

  Relaxation(int n, double dt, int points) {
    convective = dt * 0.5 * (n - 1);
    viscous = dt * (n - 1.0) * (n - 1.0);
    change = new double[5][points];
  }

  /**
   * Solves the equations of the points, 1 + 2 viscous (dN/du + diffusion) summed over the
   * directions, in which central differences cancel: triangular systems. In place.
   */
  void solve(States s, double[][] r, int from, int to) {
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
    for (int l = from; l < to; ++l) {
      final double w = volume[l];
      final double x = vx[l];
      final double y = vy[l];
      final double z = vz[l];
      final double mass = r0[l] * part;
      final double push = mu * w;
      final double inverse = 1.0 / (diagonal + push);
      final double a = (r1[l] + push * x * mass) * inverse;
      final double b = (r2[l] + push * y * mass) * inverse;
      final double c = (r3[l] + push * z * mass) * inverse;
      final double gain = x * (a - x * mass) + y * (b - y * mass) + z * (c - z * mass);
      final double friction = work * gain - warm * total[l] * mass;
      r0[l] = mass;
      r1[l] = a;
      r2[l] = b;
      r3[l] = c;
      r4[l] = (r4[l] - w * friction) / (diagonal + warm * w);
    }
  }

  /** What changes v of the quantities change, for the products with them. */
  void setChange(States s, double[][] v, int from, int to) {
    final double[] v0 = v[0];
    final double[] v1 = v[1];
    final double[] v2 = v[2];
    final double[] v3 = v[3];
    final double[] v4 = v[4];
    final double[] vx = s.velocity[0];
    final double[] vy = s.velocity[1];
    final double[] vz = s.velocity[2];
    final double[] volume = s.volume;
    final double[] kinetic = s.kinetic;
    final double[] total = s.total;
    final double[] cx = change[0];
    final double[] cy = change[1];
    final double[] cz = change[2];
    final double[] heat = change[3];
    final double[] pressure = change[4];
    for (int l = from; l < to; ++l) {
      final double mass = v0[l];
      final double w = volume[l];
      final double x = vx[l];
      final double y = vy[l];
      final double z = vz[l];
      final double a = v1[l];
      final double b = v2[l];
      final double c = v3[l];
      final double e = v4[l];
      cx[l] = (a - x * mass) * w;
      cy[l] = (b - y * mass) * w;
      cz[l] = (c - z * mass) * w;
      heat[l] = (e - total[l] * mass) * w;
      pressure[l] = Equations.K2 * (e - (x * a + y * b + z * c) + kinetic[l] * mass);
    }
  }

  /**
   * (sign convective dF/du - viscous (dN/du + diffusion)) v along a direction, without the matrix;
   * {@link #setChange} has been called for v.
   */
  void product(int direction, double sign, States s, double[][] v, double[][] out, int[] ends) {
    final int normal = direction + 1;
    final double spread = viscous * Equations.diffusion(direction);
    final double carried = sign * convective;
    setMass(normal, carried, spread, v, out[0], ends);
    for (int m = 1; m < 4; ++m) {
      setMomentum(direction, m, carried, spread, s, v, out[m], ends);
    }
    setEnergy(direction, carried, spread, s, v, out[4], ends);
  }

  private static void setMass(
      int normal, double carried, double spread, double[][] v, double[] out, int[] ends) {
    final double[] vn = v[normal];
    final double[] v0 = v[0];
    final int to = ends[1];
    for (int l = ends[0]; l < to; ++l) {
      out[l] = carried * vn[l] - spread * v0[l];
    }
  }

  private void setMomentum(
      int direction, int m, double carried, double spread, States s, double[][] v, double[] out,
      int[] ends) {
    final double mu = viscous * Equations.viscosity(direction, m);
    final double push = m == direction + 1 ? carried : 0.0;
    final double[] flow = s.velocity[direction];
    final double[] own = s.velocity[m - 1];
    final double[] v0 = v[0];
    final double[] vn = v[direction + 1];
    final double[] vm = v[m];
    final double[] moved = change[m - 1];
    final double[] pressure = change[4];
    final int to = ends[1];
    for (int l = ends[0]; l < to; ++l) {
      final double f = flow[l];
      final double a = vm[l];
      final double momentum = f * a + own[l] * (vn[l] - f * v0[l]);
      out[l] = carried * momentum + push * pressure[l] - mu * moved[l] - spread * a;
    }
  }

  private void setEnergy(
      int direction, double carried, double spread, States s, double[][] v, double[] out,
      int[] ends) {
    final double slow = viscous * (Equations.VISCOSITY - Equations.CONDUCTION);
    final double excess = viscous * Equations.VISCOSITY / 3.0;
    final double warm = viscous * Equations.CONDUCTION;
    final double[] vx = s.velocity[0];
    final double[] vy = s.velocity[1];
    final double[] vz = s.velocity[2];
    final double[] flow = s.velocity[direction];
    final double[] kinetic = s.kinetic;
    final double[] total = s.total;
    final double[] cx = change[0];
    final double[] cy = change[1];
    final double[] cz = change[2];
    final double[] cn = change[direction];
    final double[] heat = change[3];
    final double[] pressure = change[4];
    final double[] v0 = v[0];
    final double[] vn = v[direction + 1];
    final double[] v4 = v[4];
    final int to = ends[1];
    for (int l = ends[0]; l < to; ++l) {
      final double f = flow[l];
      final double e = v4[l];
      final double all = total[l];
      final double enthalpy = all + Equations.K2 * (all - kinetic[l]);
      final double work = vx[l] * cx[l] + vy[l] * cy[l] + vz[l] * cz[l];
      final double friction = slow * work + excess * f * cn[l] + warm * heat[l];
      final double gain = (e + pressure[l]) * f + enthalpy * (vn[l] - f * v0[l]);
      out[l] = carried * gain - friction - spread * e;
    }
  }
}
