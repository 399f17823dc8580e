// SPDX-License-Identifier: Apache-2.0
package npb.sp;

import npb.Fused;
import npb.Lanes;
import npb.flow.Equations;
import npb.flow.FourthDifference;
import npb.flow.Method;
import npb.flow.States;

/**
 * SP: pentadiagonal systems along lines, one for each eigenvalue, by elimination. Three quantities
 * are carried along with the flow, one by each of both sound waves.
 */
final class Numerics implements Method {
  private static final int SIZE = 5;
  private static final double[] WITH_SOUND = {0, 1, -1};
  /** The system of each quantity. */
  private static final int[] SYSTEM = {0, 0, 0, 1, 2};

  private final int n;
  private final double convective;
  private final double viscous;
  private final double[][] smooth;
  private final States[] states;
  private final double[][] sounds;
  /** After elimination, x = r - next x(+1) - after x(+2); by system and point plus one. */
  private final double[][][] next;
  private final double[][][] after;
  private final double[] second;
  private final double[] inverse;
  private final double[][] here = new double[SIZE][];
  private final double[][] change = new double[SIZE][];

  Numerics(int n, double dt, int lines) {
    this.n = n;
    convective = dt * 0.5 * (n - 1);
    viscous = dt * (n - 1.0) * (n - 1.0);
    smooth = new FourthDifference(n).factors;
    for (double[] factors : smooth) {
      for (int i = 0; i < n; ++i) {
        factors[i] *= dt;
      }
    }
    states = new States[] {new States(lines), new States(lines), new States(lines)};
    sounds = new double[3][Lanes.length(lines)];
    // Two points before the first, of which nothing comes.
    next = new double[WITH_SOUND.length][n + 1][Lanes.length(lines)];
    after = new double[WITH_SOUND.length][n + 1][Lanes.length(lines)];
    second = new double[Lanes.length(lines)];
    inverse = new double[Lanes.length(lines)];
  }

  @Override
  public void solve(int direction, double[][][] u, double[][][] r) {
    setState(u, 0);
    setState(u, 1);
    for (int p = 1; p < n - 1; ++p) {
      if (direction == 0) {
        take(r, p, here);
        Eigenvectors.intoX(states[p % 3], sounds[p % 3], here);
      }
      setState(u, p + 1);
      eliminate(direction, p, r);
    }
    for (int p = n - 2; p > 0; --p) {
      final int last = Math.min(p + 2, n - 1);
      for (int m = 0; m < SIZE; ++m) {
        final int s = SYSTEM[m];
        substitute(r[m][p], next[s][p + 1], r[m][p + 1], after[s][p + 1], r[m][last]);
      }
    }
    for (int p = 1; p < n - 1; ++p) {
      finish(direction, p, u, r);
    }
  }

  private void setState(double[][][] u, int p) {
    states[p % 3].set(u, p);
    Eigenvectors.soundSpeed(states[p % 3], sounds[p % 3]);
  }

  private static void take(double[][][] r, int p, double[][] to) {
    for (int m = 0; m < SIZE; ++m) {
      to[m] = r[m][p];
    }
  }

  private void eliminate(int direction, int p, double[][][] r) {
    for (int s = 0; s < WITH_SOUND.length; ++s) {
      setRow(direction, p, s);
      for (int m = 0; m < SIZE; ++m) {
        if (SYSTEM[m] == s) {
          reduce(r[m][p], smooth[0][p], r[m][Math.max(p - 2, 0)], r[m][p - 1]);
        }
      }
    }
  }

  /** Eliminates both entries before the diagonal of a row. */
  private void setRow(int direction, int p, int system) {
    final double sign = WITH_SOUND[system];
    final double s0 = smooth[0][p];
    final double s1 = smooth[1][p] - viscous * Equations.diffusion(direction);
    final double s2 = smooth[2][p] + 1.0 + 2.0 * viscous * Equations.diffusion(direction);
    final double s3 = smooth[3][p] - viscous * Equations.diffusion(direction);
    final double s4 = smooth[4][p];
    final double warm = viscous * Equations.CONDUCTION;
    final double carried = convective;
    final double[] flowBefore = states[(p + 2) % 3].velocity[direction];
    final double[] flowAfter = states[(p + 1) % 3].velocity[direction];
    final double[] soundBefore = sounds[(p + 2) % 3];
    final double[] soundAfter = sounds[(p + 1) % 3];
    final double[] volumeBefore = states[(p + 2) % 3].volume;
    final double[] volume = states[p % 3].volume;
    final double[] volumeAfter = states[(p + 1) % 3].volume;
    final double[] next0 = next[system][p - 1];
    final double[] next1 = next[system][p];
    final double[] next2 = next[system][p + 1];
    final double[] after0 = after[system][p - 1];
    final double[] after1 = after[system][p];
    final double[] after2 = after[system][p + 1];
    final double[] below = second;
    final double[] inverted = inverse;
    for (int l = Lanes.FROM; l < inverted.length; ++l) {
      final double low = Fused.add(sign, soundBefore[l], flowBefore[l]);
      final double high = Fused.add(sign, soundAfter[l], flowAfter[l]);
      final double under =
          Fused.add(-carried, low, Fused.add(-warm, volumeBefore[l], s1))
              - s0 * next0[l];
      final double own = Fused.add(2.0 * warm, volume[l], s2) - s0 * after0[l];
      final double one = 1.0 / Fused.add(-under, next1[l], own);
      below[l] = under;
      inverted[l] = one;
      final double over = Fused.add(carried, high, Fused.add(-warm, volumeAfter[l], s3));
      next2[l] = Fused.add(-under, after1[l], over) * one;
      after2[l] = s4 * one;
    }
  }

  private void reduce(double[] r, double first, double[] twoBefore, double[] oneBefore) {
    final double[] below = second;
    final double[] inverted = inverse;
    for (int l = Lanes.FROM; l < r.length; ++l) {
      final double reduced = Fused.add(-first, twoBefore[l], r[l]);
      r[l] = Fused.add(-below[l], oneBefore[l], reduced) * inverted[l];
    }
  }

  private static void substitute(
      double[] r, double[] next, double[] oneBehind, double[] after, double[] twoBehind) {
    for (int l = Lanes.FROM; l < r.length; ++l) {
      r[l] -= Fused.add(next[l], oneBehind[l], after[l] * twoBehind[l]);
    }
  }

  /** What the solution becomes for the next direction, or the change of the quantities. */
  private void finish(int direction, int p, double[][][] u, double[][][] r) {
    take(r, p, here);
    if (direction == 0) {
      Eigenvectors.fromXIntoY(here);
    } else if (direction == 1) {
      Eigenvectors.fromYIntoZ(here);
    } else {
      setState(u, p);
      take(u, p, change);
      Eigenvectors.addFromZ(states[p % 3], sounds[p % 3], here, change);
    }
  }
}
