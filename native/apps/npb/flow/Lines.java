// SPDX-License-Identifier: Apache-2.0
package npb.flow;

import java.util.Arrays;

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
    u = new double[Equations.QUANTITIES][n][planes(n) * n];
    r = new double[Equations.QUANTITIES][n][planes(n) * n];
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

  /** Lines in x of planes [from, to), whose points become arrays over y and z. */
  void takeX(Field quantities, Field right, int from, int to) {
    for (int m = 0; m < u.length; ++m) {
      for (int k = from; k < to; ++k) {
        turn(quantities.rows[m][k], u[m], (k - from) * n);
        turn(right.rows[m][k], r[m], (k - from) * n);
      }
    }
  }

  /** Puts the right-hand side of lines in x back. */
  void giveX(Field right, int from, int to) {
    for (int m = 0; m < u.length; ++m) {
      for (int k = from; k < to; ++k) {
        turnBack(r[m], right.rows[m][k], (k - from) * n);
      }
    }
  }

  /** Lines in y of planes [from, to). */
  void takeY(Field quantities, Field right, int from, int to) {
    for (int m = 0; m < u.length; ++m) {
      for (int k = from; k < to; ++k) {
        for (int j = 0; j < n; ++j) {
          System.arraycopy(quantities.rows[m][k][j], 0, u[m][j], (k - from) * n, n);
          System.arraycopy(right.rows[m][k][j], 0, r[m][j], (k - from) * n, n);
        }
      }
    }
  }

  /** Puts the right-hand side of lines in y back. */
  void giveY(Field right, int from, int to) {
    for (int m = 0; m < u.length; ++m) {
      for (int k = from; k < to; ++k) {
        for (int j = 1; j < n - 1; ++j) {
          System.arraycopy(r[m][j], (k - from) * n, right.rows[m][k][j], 0, n);
        }
      }
    }
  }

  /** Lines in z of the rows [from, to) of all planes. */
  void takeZ(Field quantities, Field right, int from, int to) {
    for (int m = 0; m < u.length; ++m) {
      for (int k = 0; k < n; ++k) {
        for (int j = from; j < to; ++j) {
          System.arraycopy(quantities.rows[m][k][j], 0, u[m][k], (j - from) * n, n);
          System.arraycopy(right.rows[m][k][j], 0, r[m][k], (j - from) * n, n);
        }
      }
    }
  }

  /** Puts the quantities of lines in z back. */
  void giveZ(Field quantities, int from, int to) {
    for (int m = 0; m < u.length; ++m) {
      for (int k = 1; k < n - 1; ++k) {
        for (int j = from; j < to; ++j) {
          System.arraycopy(u[m][k], (j - from) * n, quantities.rows[m][k][j], 0, n);
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
          column[at + l] = rows[l][i];
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
          row[l] = columns[l][at + j];
        }
      }
    }
  }
}
