package npb.lu;

import java.util.Arrays;
import npb.Lanes;
import npb.flow.Field;
import npb.flow.States;

/**
 * LU: a lower and an upper sweep of successive over-relaxation over the rows that a thread has of
 * every plane. Rows go together, each a point behind the one before, so that what a point needs of
 * its neighbours is known when it is computed: in step t row l is at point t - l. Whole
 * vectors of rows are computed, those without a point there as 0.
 */
final class Sweeps {
  private static final int SIZE = 5;
  /** The lane of the first row. */
  private static final int ROW = Lanes.FIRST;

  private final int first;
  private final int rows;
  private final int points;
  private final int steps;
  private final Relaxation relaxation;
  private final States state;
  /** By step, over rows: 1 where a row has a point, else 0. */
  private final double[][] within;
  /** By quantity and step, over rows. */
  private final double[][][] quantities;
  /** By step and quantity, over rows. */
  private final double[][][] right;
  /** Products for the next plane, and by plane the result of the lower sweep. */
  private final double[][][] plane;
  private final double[][][][] swept;
  /** Products for the next point of each row, for the next row, and those of the row before. */
  private final double[][] x;
  private final double[][] y;
  private final double[][] entering;

  /** Rows [first, last) of every plane. */
  Sweeps(int n, double dt, int first, int last) {
    this.first = first;
    rows = last - first;
    points = n - 2;
    steps = points + rows - 1;
    relaxation = new Relaxation(n, dt);
    state = new States(rows);
    final int lanes = Lanes.length(rows);
    within = new double[steps][lanes];
    quantities = new double[SIZE][steps][];
    for (int t = 0; t < steps; ++t) {
      Arrays.fill(
          within[t], ROW + Math.max(0, t - points + 1), ROW + Math.min(rows, t + 1), 1);
      for (double[][] quantity : quantities) {
        quantity[t] = Lanes.of(rows, 1);
      }
    }
    right = new double[steps][SIZE][lanes];
    plane = new double[steps][SIZE][lanes];
    swept = new double[n][steps][SIZE][lanes];
    x = new double[SIZE][lanes];
    y = new double[SIZE][lanes];
    entering = new double[SIZE][lanes];
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
    skew(u, k);
    for (int m = 0; m < SIZE; ++m) {
      for (int l = 0; l < rows; ++l) {
        final double[] from = r.rows[k][first + l][m];
        for (int i = 0; i < points; ++i) {
          right[i + l][m][ROW + l] = from[Field.X + 1 + i];
        }
      }
    }
    clear(x);
    clear(y);
    for (int t = 0; t < steps; ++t) {
      for (int m = 0; m < SIZE; ++m) {
        System.arraycopy(y[m], ROW, entering[m], ROW + 1, rows - 1);
        entering[m][ROW] = t < points ? edge[m][t] : 0;
      }
      final double[][] value = swept[k][t];
      setState(t);
      relaxation.setLower(right[t], x, entering, plane[t], value);
      relaxation.solve(state, within[t], value);
      pass(t, -1, value);
      leave(t - rows + 1, ROW + rows - 1, edge);
    }
  }

  /** (1 + omega D^-1 U) dv = v in plane k, then u += dv / (omega (2 - omega)). */
  void upper(Field u, int k, double[][] edge) {
    skew(u, k);
    clear(x);
    clear(y);
    for (int t = steps - 1; t >= 0; --t) {
      final int at = t - rows + 1;
      for (int m = 0; m < SIZE; ++m) {
        System.arraycopy(y[m], ROW + 1, entering[m], ROW, rows - 1);
        entering[m][ROW + rows - 1] = at >= 0 ? edge[m][at] : 0;
      }
      final double[][] value = right[t];
      setState(t);
      relaxation.setUpper(x, entering, plane[t], value);
      relaxation.solve(state, within[t], value);
      relaxation.subtractFrom(swept[k][t], value);
      pass(t, 1, value);
      leave(t, ROW, edge);
    }
    add(u, k);
  }

  /** The state of the rows that have a point in step t. */
  private void setState(int t) {
    final int low = Math.max(0, t - points + 1);
    final int high = Math.min(rows, t + 1);
    final int from = Lanes.from(low);
    final int end = Lanes.length(high);
    state.set(quantities, t, from, end);
    relaxation.setRange(from, end);
  }

  /** Takes the products of the values of step t. */
  private void pass(int t, double sign, double[][] value) {
    relaxation.products(sign, state, value, x, y, plane[t]);
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

  private void skew(Field u, int k) {
    for (int m = 0; m < SIZE; ++m) {
      final double[][] to = quantities[m];
      for (int l = 0; l < rows; ++l) {
        final double[] from = u.rows[k][first + l][m];
        for (int i = 0; i < points; ++i) {
          to[i + l][ROW + l] = from[Field.X + 1 + i];
        }
      }
    }
  }

  /** The changes of a plane, which the upper sweep leaves in {@code right}. */
  private void add(Field u, int k) {
    final double scale = 1.0 / (Relaxation.OMEGA * (2.0 - Relaxation.OMEGA));
    for (int m = 0; m < SIZE; ++m) {
      for (int l = 0; l < rows; ++l) {
        final double[] to = u.rows[k][first + l][m];
        for (int i = 0; i < points; ++i) {
          to[Field.X + 1 + i] += scale * right[i + l][m][ROW + l];
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
