// SPDX-License-Identifier: Apache-2.0
package npb.sp;

import npb.Lanes;
import npb.flow.Equations;
import npb.flow.States;

/**
 * SP: the eigenvectors T of the fluxes' derivatives decouple the five quantities; between two
 * directions only products of two of them are needed (RNR-94-007, section 3.5). All of it is done
 * at one point of lines that lie side by side; {@code r} are its five arrays.
 */
final class Eigenvectors {
  private static final double ROOT_HALF = 0.70710678118654752440;

  private Eigenvectors() {}

  static void soundSpeed(States s, double[] sound) {
    final double[] total = s.total;
    final double[] kinetic = s.kinetic;
    for (int l = Lanes.FROM; l < sound.length; ++l) {
      sound[l] = Math.sqrt(Equations.K1 * Equations.K2 * (total[l] - kinetic[l]));
    }
  }

  /** r becomes T_x^-1 r. */
  static void intoX(States s, double[] sound, double[][] r) {
    final double[] r0 = r[0];
    final double[] r1 = r[1];
    final double[] r2 = r[2];
    final double[] r3 = r[3];
    final double[] r4 = r[4];
    final double[] vx = s.velocity[0];
    final double[] vy = s.velocity[1];
    final double[] vz = s.velocity[2];
    final double[] volume = s.volume;
    final double[] kinetic = s.kinetic;
    for (int l = Lanes.FROM; l < sound.length; ++l) {
      final double a = r0[l];
      final double b = r1[l];
      final double c = r2[l];
      final double d = r3[l];
      final double x = vx[l];
      final double y = vy[l];
      final double z = vz[l];
      final double v = volume[l];
      final double fast = sound[l];
      final double work = kinetic[l] * a - x * b - y * c - z * d + r4[l];
      final double pressure = Equations.K2 * work / (fast * fast);
      final double moved = ROOT_HALF * v * (x * a - b);
      final double pushed = ROOT_HALF * v * fast * pressure;
      r0[l] = a - pressure;
      r1[l] = v * (d - z * a);
      r2[l] = v * (y * a - c);
      r3[l] = pushed - moved;
      r4[l] = pushed + moved;
    }
  }

  /** r becomes T_y^-1 T_x r. */
  static void fromXIntoY(double[][] r) {
    final double[] r0 = r[0];
    final double[] r1 = r[1];
    final double[] r2 = r[2];
    final double[] r3 = r[3];
    final double[] r4 = r[4];
    for (int l = Lanes.FROM; l < r0.length; ++l) {
      final double a = r0[l];
      final double b = r1[l];
      final double along = ROOT_HALF * r2[l];
      final double d = r3[l];
      final double e = r4[l];
      final double sum = 0.5 * (d + e);
      r0[l] = -b;
      r1[l] = a;
      r2[l] = ROOT_HALF * (d - e);
      r3[l] = sum - along;
      r4[l] = sum + along;
    }
  }

  /** r becomes T_z^-1 T_y r. */
  static void fromYIntoZ(double[][] r) {
    final double[] r0 = r[0];
    final double[] r1 = r[1];
    final double[] r2 = r[2];
    final double[] r3 = r[3];
    final double[] r4 = r[4];
    for (int l = Lanes.FROM; l < r0.length; ++l) {
      final double along = ROOT_HALF * r0[l];
      final double b = r1[l];
      final double c = r2[l];
      final double d = r3[l];
      final double e = r4[l];
      final double sum = 0.5 * (d + e);
      r0[l] = ROOT_HALF * (d - e);
      r1[l] = -c;
      r2[l] = b;
      r3[l] = sum - along;
      r4[l] = sum + along;
    }
  }

  /** Adds T_z r to the quantities u of the point. */
  static void addFromZ(States s, double[] sound, double[][] r, double[][] u) {
    final double[] r0 = r[0];
    final double[] r1 = r[1];
    final double[] r2 = r[2];
    final double[] r3 = r[3];
    final double[] r4 = r[4];
    final double[] vx = s.velocity[0];
    final double[] vy = s.velocity[1];
    final double[] vz = s.velocity[2];
    final double[] kinetic = s.kinetic;
    final double[] u0 = u[0];
    final double[] u1 = u[1];
    final double[] u2 = u[2];
    final double[] u3 = u[3];
    final double[] u4 = u[4];
    for (int l = Lanes.FROM; l < sound.length; ++l) {
      final double density = u0[l];
      final double fast = sound[l];
      final double d = r3[l];
      final double e = r4[l];
      final double x = vx[l];
      final double y = vy[l];
      final double z = vz[l];
      final double scale = ROOT_HALF * density;
      final double pressure = scale / fast * (d + e);
      final double along = scale * (d - e);
      final double mass = r2[l] + pressure;
      final double acrossX = -density * r1[l];
      final double acrossY = density * r0[l];
      final double heat = kinetic[l] * mass + fast * fast * pressure / Equations.K2;
      u0[l] = density + mass;
      u1[l] += acrossX + x * mass;
      u2[l] += acrossY + y * mass;
      u3[l] += along + z * mass;
      u4[l] += x * acrossX + y * acrossY + z * along + heat;
    }
  }
}
