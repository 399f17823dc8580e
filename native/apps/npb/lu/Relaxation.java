// SPDX-License-Identifier: Apache-2.0
package npb.lu;

import npb.Lanes;
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
  /** Momenta and velocities, that of a direction first. */
  private final double[][] turned = new double[3][];
  private final double[][] velocity = new double[3][];

  Relaxation(int n, double dt) {
    this.dt = dt;
    convective = dt * 0.5 * (n - 1);
    viscous = dt * (n - 1.0) * (n - 1.0);
  }

  /** out = dt r - omega (a + b + c). */
  void setLower(double[][] r, double[][] a, double[][] b, double[][] c, double[][] out) {
    for (int m = 0; m < out.length; ++m) {
      lower(r[m], a[m], b[m], c[m], out[m]);
    }
  }

  /** out = omega (a + b + c). */
  void setUpper(double[][] a, double[][] b, double[][] c, double[][] out) {
    for (int m = 0; m < out.length; ++m) {
      upper(a[m], b[m], c[m], out[m]);
    }
  }

  private void lower(double[] r, double[] a, double[] b, double[] c, double[] out) {
    for (int l = Lanes.FROM; l < out.length; ++l) {
      out[l] = dt * r[l] - OMEGA * (a[l] + b[l] + c[l]);
    }
  }

  private static void upper(double[] a, double[] b, double[] c, double[] out) {
    for (int l = Lanes.FROM; l < out.length; ++l) {
      out[l] = OMEGA * (a[l] + b[l] + c[l]);
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
    for (int l = Lanes.FROM; l < within.length; ++l) {
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
   * (sign convective dF/du - viscous (dN/du + diffusion)) v along a direction, without the matrix.
   * Momenta and velocities are taken in turn, that of the direction first.
   */
  void product(int direction, double sign, States s, double[][] v, double[][] out) {
    final int second = (direction + 1) % 3;
    final int third = (direction + 2) % 3;
    turned[0] = v[direction + 1];
    turned[1] = v[second + 1];
    turned[2] = v[third + 1];
    velocity[0] = s.velocity[direction];
    velocity[1] = s.velocity[second];
    velocity[2] = s.velocity[third];
    final double carried = sign * convective;
    final double spread = viscous * Equations.diffusion(direction);
    momentum(carried, spread, s, v, out[0], out[direction + 1], out[second + 1], out[third + 1]);
    energy(carried, spread, s, v, out[4]);
  }

  private void momentum(
      double carried, double spread, States s, double[][] v,
      double[] density, double[] along, double[] across, double[] beside) {
    final double mu = viscous * Equations.VISCOSITY;
    final double[] v0 = v[0];
    final double[] v1 = turned[0];
    final double[] v2 = turned[1];
    final double[] v3 = turned[2];
    final double[] v4 = v[4];
    final double[] vx = velocity[0];
    final double[] vy = velocity[1];
    final double[] vz = velocity[2];
    final double[] volume = s.volume;
    final double[] kinetic = s.kinetic;
    for (int l = Lanes.FROM; l < density.length; ++l) {
      final double mass = v0[l];
      final double a = v1[l];
      final double b = v2[l];
      final double c = v3[l];
      final double x = vx[l];
      final double y = vy[l];
      final double z = vz[l];
      final double thin = mu * volume[l];
      final double moved = a - x * mass;
      final double work = x * a + y * b + z * c;
      final double pressure = Equations.K2 * (v4[l] - work + kinetic[l] * mass);
      density[l] = carried * a - spread * mass;
      along[l] =
          carried * (x * (a + moved) + pressure)
              - Equations.FOUR_THIRDS * thin * moved - spread * a;
      across[l] = carried * (x * b + y * moved) - thin * (b - y * mass) - spread * b;
      beside[l] = carried * (x * c + z * moved) - thin * (c - z * mass) - spread * c;
    }
  }

  private void energy(double carried, double spread, States s, double[][] v, double[] out) {
    final double third = Equations.VISCOSITY / 3.0;
    final double slow = Equations.VISCOSITY - Equations.CONDUCTION;
    final double[] v0 = v[0];
    final double[] v1 = turned[0];
    final double[] v2 = turned[1];
    final double[] v3 = turned[2];
    final double[] v4 = v[4];
    final double[] vx = velocity[0];
    final double[] vy = velocity[1];
    final double[] vz = velocity[2];
    final double[] volume = s.volume;
    final double[] kinetic = s.kinetic;
    final double[] total = s.total;
    for (int l = Lanes.FROM; l < out.length; ++l) {
      final double mass = v0[l];
      final double a = v1[l];
      final double e = v4[l];
      final double x = vx[l];
      final double half = kinetic[l];
      final double all = total[l];
      final double moved = a - x * mass;
      // Of momenta and velocities; and of the square of velocities.
      final double work = x * a + vy[l] * v2[l] + vz[l] * v3[l];
      final double pressure = Equations.K2 * (e - work + half * mass);
      final double friction =
          third * x * moved + slow * (work - 2.0 * half * mass)
              + Equations.CONDUCTION * (e - all * mass);
      final double enthalpy = all + Equations.K2 * (all - half);
      out[l] =
          carried * ((e + pressure) * x + enthalpy * moved)
              - viscous * volume[l] * friction - spread * e;
    }
  }
}
