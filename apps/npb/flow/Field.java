package npb.flow;

import java.util.Arrays;
import npb.Lanes;

/**
 * Five quantities on n^3 points: by z, y and quantity an array of all x. Rows that are neighbours
 * in y or z are combined at one index, which is what HotSpot makes vectors of. The points within
 * the cube begin where loops over {@link Lanes} do.
 */
public final class Field {
  /** Where the first point of a row is. */
  public static final int X = Lanes.FROM - 1;

  public final double[][][][] rows;
  public final int n;

  public Field(int n, double value) {
    this.n = n;
    rows = new double[n][n][Equations.QUANTITIES][length(n)];
    for (double[][][] plane : rows) {
      for (double[][] row : plane) {
        for (double[] quantity : row) {
          Arrays.fill(quantity, value);
        }
      }
    }
  }

  /** The length of a row with room for whole vectors of points. */
  static int length(int n) {
    return Lanes.length(n - 2);
  }

  /** Sets all points to the exact solution, or to what the first step begins with. */
  public void set(boolean exact) {
    final double h = n - 1;
    for (int m = 0; m < Equations.QUANTITIES; ++m) {
      for (int k = 0; k < n; ++k) {
        for (int j = 0; j < n; ++j) {
          for (int i = 0; i < n; ++i) {
            final boolean known = exact || !(inside(i) && inside(j) && inside(k));
            rows[k][j][m][X + i] =
                known
                    ? Equations.exact(m, i / h, j / h, k / h)
                    : blended(m, i / h, j / h, k / h);
          }
        }
      }
    }
  }

  /** The linear interpolation between two opposite faces, for each direction, blended. */
  private static double blended(int m, double x, double y, double z) {
    final double a = x * Equations.exact(m, 1, y, z) + (1 - x) * Equations.exact(m, 0, y, z);
    final double b = y * Equations.exact(m, x, 1, z) + (1 - y) * Equations.exact(m, x, 0, z);
    final double c = z * Equations.exact(m, x, y, 1) + (1 - z) * Equations.exact(m, x, y, 0);
    return a + b + c - a * b - a * c - b * c + a * b * c;
  }

  /** Root mean squares of all quantities over the points within the cube. */
  public double[] norms() {
    final double[] sums = new double[Equations.QUANTITIES];
    for (int m = 0; m < Equations.QUANTITIES; ++m) {
      for (int k = 1; k < n - 1; ++k) {
        for (int j = 1; j < n - 1; ++j) {
          for (int i = 1; i < n - 1; ++i) {
            sums[m] += rows[k][j][m][X + i] * rows[k][j][m][X + i];
          }
        }
      }
    }
    return rootMeans(sums);
  }

  /** The same of what differs from the exact solution, at all points. */
  public double[] errors() {
    final double[] sums = new double[Equations.QUANTITIES];
    final double h = n - 1;
    for (int m = 0; m < Equations.QUANTITIES; ++m) {
      for (int k = 0; k < n; ++k) {
        for (int j = 0; j < n; ++j) {
          for (int i = 0; i < n; ++i) {
            final double gap = rows[k][j][m][X + i] - Equations.exact(m, i / h, j / h, k / h);
            sums[m] += gap * gap;
          }
        }
      }
    }
    return rootMeans(sums);
  }

  private double[] rootMeans(double[] sums) {
    final double points = (n - 2.0) * (n - 2.0) * (n - 2.0);
    return Arrays.stream(sums).map(sum -> Math.sqrt(sum / points)).toArray();
  }

  private boolean inside(int i) {
    return i > 0 && i < n - 1;
  }
}
