// SPDX-License-Identifier: Apache-2.0
package npb.lu;

import java.util.Arrays;
import npb.flow.Field;
import npb.flow.States;

/**
 * LU: a lower and an upper sweep of successive over-relaxation over the rows that a thread has of
 * every plane. Rows go together, each a point behind the one before, so that what a point needs of
 * its neighbours is known when it is computed: in step t row l is at point t - l.
 */
final class Sweeps {
  private static final int SIZE = 5;

  private final int n;
  private final int first;
  private final int rows;
  private final int points;
  private final int steps;
  private final double dt;
  private final Relaxation relaxation;
  private final States[] states;
  private final States row;
  /** By step and quantity, over rows. */
  private final double[][][] right;
  /** Products for the next plane, and by plane the result of the lower sweep. */
  private final double[][][] plane;
  private final double[][][][] swept;
  /** Products for the next point of each row, for the next row, and those of the row before. */
  private final double[][] x;
  private final double[][] y;
  private final double[][] entering;
  private final double[][] value = new double[SIZE][];
  private final double[][][] quantities = new double[SIZE][1][];
  private final int[] ends = new int[2];

  /** Rows [first, last) of every plane. */
  Sweeps(int n, double dt, int first, int last) {
    this.n = n;
    this.dt = dt;
    this.first = first;
    rows = last - first;
    points = n - 2;
    steps = points + rows - 1;
    relaxation = new Relaxation(n, dt, rows);
    row = new States(n);
    states = new States[steps];
    for (int t = 0; t < steps; ++t) {
      states[t] = new States(rows);
    }
    right = new double[steps][SIZE][rows];
    plane = new double[steps][SIZE][rows];
    swept = new double[n][steps][SIZE][rows];
    x = new double[SIZE][rows];
    y = new double[SIZE][rows];
    entering = new double[SIZE][rows];
  }

  /** Before the first plane of a sweep: no products come from before it. */
  void start() {
    for (double[][] step : plane) {
      clear(step);
    }
  }

  /**
   * (D + omega L) v = dt r in plane k. {@code edge} has the products of the row before by quantity
   * and point; they are replaced by those of the last row.
   */
  void lower(Field u, Field r, int k, double[][] edge) {
    skewStates(u, k);
    for (int m = 0; m < SIZE; ++m) {
      for (int l = 0; l < rows; ++l) {
        final double[] from = r.rows[m][k][first + l];
        for (int i = 0; i < points; ++i) {
          right[i + l][m][l] = from[i + 1];
        }
      }
    }
    clear(x);
    clear(y);
    for (int t = 0; t < steps; ++t) {
      ends[0] = Math.max(0, t - points + 1);
      ends[1] = Math.min(rows, t + 1);
      for (int m = 0; m < SIZE; ++m) {
        value[m] = swept[k][t][m];
        System.arraycopy(y[m], 0, entering[m], 1, rows - 1);
        entering[m][0] = t < points ? edge[m][t] : 0;
        lowerRight(right[t][m], x[m], entering[m], plane[t][m], value[m]);
      }
      relaxation.solve(states[t], value, ends[0], ends[1]);
      pass(t, -1);
      leave(t - rows + 1, rows - 1, edge);
    }
  }

  /** (1 + omega D^-1 U) dv = v in plane k, then u += dv / (omega (2 - omega)). */
  void upper(Field u, int k, double[][] edge) {
    skewStates(u, k);
    clear(x);
    clear(y);
    for (int t = steps - 1; t >= 0; --t) {
      ends[0] = Math.max(0, t - points + 1);
      ends[1] = Math.min(rows, t + 1);
      final int at = t - rows + 1;
      for (int m = 0; m < SIZE; ++m) {
        value[m] = right[t][m];
        System.arraycopy(y[m], 1, entering[m], 0, rows - 1);
        entering[m][rows - 1] = at >= 0 ? edge[m][at] : 0;
        upperRight(x[m], entering[m], plane[t][m], value[m]);
      }
      relaxation.solve(states[t], value, ends[0], ends[1]);
      for (int m = 0; m < SIZE; ++m) {
        subtractFrom(swept[k][t][m], value[m]);
      }
      pass(t, 1);
      leave(t, 0, edge);
    }
    add(u, k);
  }

  /** Takes the products of the values of step t. */
  private void pass(int t, double sign) {
    relaxation.setChange(states[t], value, ends[0], ends[1]);
    relaxation.product(0, sign, states[t], value, x, ends);
    relaxation.product(1, sign, states[t], value, y, ends);
    relaxation.product(2, sign, states[t], value, plane[t], ends);
  }

  /** The products of the row at the edge are those that the next thread needs of the point. */
  private void leave(int point, int edgeRow, double[][] edge) {
    if (point < 0 || point >= points) {
      return;
    }
    for (int m = 0; m < SIZE; ++m) {
      edge[m][point] = y[m][edgeRow];
    }
  }

  private void skewStates(Field u, int k) {
    for (int l = 0; l < rows; ++l) {
      for (int m = 0; m < SIZE; ++m) {
        quantities[m][0] = u.rows[m][k][first + l];
      }
      row.set(quantities, 0);
      for (int i = 0; i < points; ++i) {
        final States to = states[i + l];
        to.velocity[0][l] = row.velocity[0][i + 1];
        to.velocity[1][l] = row.velocity[1][i + 1];
        to.velocity[2][l] = row.velocity[2][i + 1];
        to.volume[l] = row.volume[i + 1];
        to.kinetic[l] = row.kinetic[i + 1];
        to.total[l] = row.total[i + 1];
      }
    }
  }

  private void lowerRight(double[] r, double[] a, double[] b, double[] c, double[] out) {
    final int to = ends[1];
    for (int l = ends[0]; l < to; ++l) {
      out[l] = dt * r[l] - Relaxation.OMEGA * (a[l] + b[l] + c[l]);
    }
  }

  private void upperRight(double[] a, double[] b, double[] c, double[] out) {
    final int to = ends[1];
    for (int l = ends[0]; l < to; ++l) {
      out[l] = Relaxation.OMEGA * (a[l] + b[l] + c[l]);
    }
  }

  private void subtractFrom(double[] whole, double[] part) {
    final int to = ends[1];
    for (int l = ends[0]; l < to; ++l) {
      part[l] = whole[l] - part[l];
    }
  }

  /** The changes of a plane, which the upper sweep leaves in {@code right}. */
  private void add(Field u, int k) {
    final double scale = 1.0 / (Relaxation.OMEGA * (2.0 - Relaxation.OMEGA));
    for (int m = 0; m < SIZE; ++m) {
      for (int l = 0; l < rows; ++l) {
        final double[] to = u.rows[m][k][first + l];
        for (int i = 0; i < points; ++i) {
          to[i + 1] += scale * right[i + l][m][l];
        }
      }
    }
  }

  private static void clear(double[][] arrays) {
    for (double[] one : arrays) {
      Arrays.fill(one, 0);
    }
  }
}
