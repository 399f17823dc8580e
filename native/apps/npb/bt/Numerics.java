// SPDX-License-Identifier: Apache-2.0
package npb.bt;

import npb.Lanes;
import npb.flow.Method;
import npb.flow.States;

/** BT: block-tridiagonal systems along lines, by block Gaussian elimination. */
final class Numerics implements Method {
  private static final int SIZE = Block.SIZE;

  private final int n;
  private final double convective;
  private final double viscous;
  private final States[] states;
  private final Block a;
  private final Block b;
  /** After elimination, x = r - c x(next). */
  private final Block[] c;
  private final double[] inverse;
  /** The right-hand sides of this point and of the one before. */
  private final double[][] here = new double[SIZE][];
  private final double[][] before = new double[SIZE][];

  Numerics(int n, double dt, int lines) {
    this.n = n;
    convective = dt * 0.5 * (n - 1);
    viscous = dt * (n - 1.0) * (n - 1.0);
    states = new States[] {new States(lines), new States(lines), new States(lines)};
    a = new Block(lines);
    b = new Block(lines);
    c = new Block[n];
    for (int p = 0; p < n; ++p) {
      c[p] = new Block(lines);
    }
    inverse = new double[Lanes.length(lines)];
  }

  @Override
  public void solve(int direction, double[][][] u, double[][][] r) {
    states[0].set(u, 0);
    states[1].set(u, 1);
    for (int p = 1; p < n - 1; ++p) {
      final States after = states[(p + 1) % 3];
      after.set(u, p + 1);
      b.setCentre(direction, states[p % 3], viscous);
      c[p].setNeighbour(direction, after, convective, viscous);
      take(r, p, here);
      if (p > 1) {
        a.setNeighbour(direction, states[(p - 1) % 3], -convective, viscous);
        take(r, p - 1, before);
        subtractBefore(direction, c[p - 1].entries);
      }
      eliminate(c[p].entries);
    }
    for (int p = n - 3; p > 0; --p) {
      take(r, p, here);
      take(r, p + 1, before);
      for (int row = 0; row < SIZE; ++row) {
        substitute(c[p].entries, row, before, here[row]);
      }
    }
    if (direction == 2) {
      for (int p = 1; p < n - 1; ++p) {
        for (int m = 0; m < SIZE; ++m) {
          add(u[m][p], r[m][p]);
        }
      }
    }
  }

  private static void take(double[][][] r, int p, double[][] to) {
    for (int m = 0; m < SIZE; ++m) {
      to[m] = r[m][p];
    }
  }

  /** What the point before says: its product with the block a. */
  private void subtractBefore(int direction, double[][] last) {
    for (int row = 0; row < SIZE; ++row) {
      for (int k = 0; k < SIZE; ++k) {
        if (Block.couples(direction, row, k)) {
          final double[] factor = a.entries[SIZE * row + k];
          subtractRow(factor, b.entries, SIZE * row, last, SIZE * k);
          subtract(factor, here[row], before[k]);
        }
      }
    }
  }

  /** Solves b (c r) = (c r): rows below each pivot, then from the last row back. */
  private void eliminate(double[][] next) {
    for (int pivot = 0; pivot < SIZE; ++pivot) {
      invert(b.entries[SIZE * pivot + pivot], inverse);
      for (int column = pivot + 1; column < SIZE; ++column) {
        scale(b.entries[SIZE * pivot + column], inverse);
      }
      scaleRow(next, SIZE * pivot, inverse);
      scale(here[pivot], inverse);
      for (int row = pivot + 1; row < SIZE; ++row) {
        final double[] factor = b.entries[SIZE * row + pivot];
        for (int column = pivot + 1; column < SIZE; ++column) {
          subtract(factor, b.entries[SIZE * row + column], b.entries[SIZE * pivot + column]);
        }
        subtractRow(factor, next, SIZE * row, next, SIZE * pivot);
        subtract(factor, here[row], here[pivot]);
      }
    }
    for (int row = SIZE - 2; row >= 0; --row) {
      for (int column = row + 1; column < SIZE; ++column) {
        final double[] factor = b.entries[SIZE * row + column];
        subtractRow(factor, next, SIZE * row, next, SIZE * column);
        subtract(factor, here[row], here[column]);
      }
    }
  }

  /** Five entries of a row: to -= factor from. */
  private static void subtractRow(double[] f, double[][] to, int row, double[][] from, int other) {
    final double[] t0 = to[row];
    final double[] t1 = to[row + 1];
    final double[] t2 = to[row + 2];
    final double[] t3 = to[row + 3];
    final double[] t4 = to[row + 4];
    final double[] s0 = from[other];
    final double[] s1 = from[other + 1];
    final double[] s2 = from[other + 2];
    final double[] s3 = from[other + 3];
    final double[] s4 = from[other + 4];
    for (int l = Lanes.FROM; l < f.length; ++l) {
      final double factor = f[l];
      t0[l] -= factor * s0[l];
      t1[l] -= factor * s1[l];
      t2[l] -= factor * s2[l];
      t3[l] -= factor * s3[l];
      t4[l] -= factor * s4[l];
    }
  }

  private static void subtract(double[] f, double[] to, double[] from) {
    for (int l = Lanes.FROM; l < f.length; ++l) {
      to[l] -= f[l] * from[l];
    }
  }

  private static void scaleRow(double[][] entries, int row, double[] f) {
    for (int column = 0; column < SIZE; ++column) {
      scale(entries[row + column], f);
    }
  }

  private static void scale(double[] to, double[] f) {
    for (int l = Lanes.FROM; l < f.length; ++l) {
      to[l] *= f[l];
    }
  }

  private static void invert(double[] from, double[] to) {
    for (int l = Lanes.FROM; l < from.length; ++l) {
      to[l] = 1.0 / from[l];
    }
  }

  private static void substitute(double[][] block, int row, double[][] x, double[] to) {
    final double[] c0 = block[SIZE * row];
    final double[] c1 = block[SIZE * row + 1];
    final double[] c2 = block[SIZE * row + 2];
    final double[] c3 = block[SIZE * row + 3];
    final double[] c4 = block[SIZE * row + 4];
    final double[] x0 = x[0];
    final double[] x1 = x[1];
    final double[] x2 = x[2];
    final double[] x3 = x[3];
    final double[] x4 = x[4];
    for (int l = Lanes.FROM; l < to.length; ++l) {
      to[l] -= c0[l] * x0[l] + c1[l] * x1[l] + c2[l] * x2[l] + c3[l] * x3[l] + c4[l] * x4[l];
    }
  }

  private static void add(double[] u, double[] change) {
    for (int l = Lanes.FROM; l < u.length; ++l) {
      u[l] += change[l];
    }
  }
}
