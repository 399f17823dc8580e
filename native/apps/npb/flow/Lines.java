// SPDX-License-Identifier: Apache-2.0
package npb.flow;

import java.util.Arrays;
import npb.Lanes;

/**
 * Lines of several planes of a field, as a method takes them: by quantity and point an array of
 * all lines. Loops over lines are long then, and most of their time is spent in vectors.
 */
final class Lines {
  /** Rows and columns that are turned at once stay in the nearest cache. */
  private static final int TILE = 8;
  private static final int LINES_MIN = 96;

  final double[][][] u;
  final double[][][] r;
  private final int n;

  Lines(int n) {
    this.n = n;
    u = new double[Equations.QUANTITIES][n][Lanes.length(planes(n) * n)];
    r = new double[Equations.QUANTITIES][n][Lanes.length(planes(n) * n)];
    for (double[][] quantity : u) {
      for (double[] point : quantity) {
        Arrays.fill(point, 1);
      }
    }
  }

  /** How many planes go together. */
  static int planes(int n) {
    return (LINES_MIN + n - 1) / n;
  }

  /** The lane of the first line of a plane. */
  private int lane(int plane) {
    return Lanes.FIRST + plane * n;
  }

  /** Lines in x of planes [from, to), whose points become arrays over y and z. */
  void takeX(Field quantities, Field right, int from, int to) {
    for (int m = 0; m < u.length; ++m) {
      for (int k = from; k < to; ++k) {
        turn(quantities.rows[m][k], u[m], lane(k - from));
        turn(right.rows[m][k], r[m], lane(k - from));
      }
    }
  }

  /** Puts the right-hand side of lines in x back. */
  void giveX(Field right, int from, int to) {
    for (int m = 0; m < u.length; ++m) {
      for (int k = from; k < to; ++k) {
        turnBack(r[m], right.rows[m][k], lane(k - from));
      }
    }
  }

  /** Lines in y of planes [from, to). */
  void takeY(Field quantities, Field right, int from, int to) {
    for (int m = 0; m < u.length; ++m) {
      for (int k = from; k < to; ++k) {
        for (int j = 0; j < n; ++j) {
          System.arraycopy(quantities.rows[m][k][j], Field.X, u[m][j], lane(k - from), n);
          System.arraycopy(right.rows[m][k][j], Field.X, r[m][j], lane(k - from), n);
        }
      }
    }
  }

  /** Puts the right-hand side of lines in y back. */
  void giveY(Field right, int from, int to) {
    for (int m = 0; m < u.length; ++m) {
      for (int k = from; k < to; ++k) {
        for (int j = 1; j < n - 1; ++j) {
          System.arraycopy(r[m][j], lane(k - from), right.rows[m][k][j], Field.X, n);
        }
      }
    }
  }

  /** Lines in z of the rows [from, to) of all planes. */
  void takeZ(Field quantities, Field right, int from, int to) {
    for (int m = 0; m < u.length; ++m) {
      for (int k = 0; k < n; ++k) {
        for (int j = from; j < to; ++j) {
          System.arraycopy(quantities.rows[m][k][j], Field.X, u[m][k], lane(j - from), n);
          System.arraycopy(right.rows[m][k][j], Field.X, r[m][k], lane(j - from), n);
        }
      }
    }
  }

  /** Puts the quantities of lines in z back. */
  void giveZ(Field quantities, int from, int to) {
    for (int m = 0; m < u.length; ++m) {
      for (int k = 1; k < n - 1; ++k) {
        for (int j = from; j < to; ++j) {
          System.arraycopy(u[m][k], lane(j - from), quantities.rows[m][k][j], Field.X, n);
        }
      }
    }
  }

  private void turn(double[][] rows, double[][] columns, int at) {
    for (int j = 0; j < n; j += TILE) {
      final int end = Math.min(j + TILE, n);
      for (int i = 0; i < n; ++i) {
        final double[] column = columns[i];
        for (int l = j; l < end; ++l) {
          column[at + l] = rows[l][Field.X + i];
        }
      }
    }
  }

  private void turnBack(double[][] columns, double[][] rows, int at) {
    for (int i = 0; i < n; i += TILE) {
      final int end = Math.min(i + TILE, n);
      for (int j = 0; j < n; ++j) {
        final double[] row = rows[j];
        for (int l = i; l < end; ++l) {
          row[Field.X + l] = columns[l][at + j];
        }
      }
    }
  }
}
