// SPDX-License-Identifier: Apache-2.0
package npb.flow;

/** Lines of a field as a method takes them: by quantity and point. */
final class Lines {
  /** Rows and columns that are turned at once stay in the nearest cache. */
  private static final int TILE = 8;

  final double[][][] u;
  final double[][][] r;
  private final double[][][] columnsU;
  private final double[][][] columnsR;
  private final int n;

  Lines(int n) {
    this.n = n;
    u = new double[Equations.QUANTITIES][n][];
    r = new double[Equations.QUANTITIES][n][];
    columnsU = new double[Equations.QUANTITIES][n][n];
    columnsR = new double[Equations.QUANTITIES][n][n];
  }

  /** Lines in x of plane k, whose points become arrays over y. */
  void takeX(Field from, Field right, int k) {
    for (int m = 0; m < u.length; ++m) {
      turn(from.rows[m][k], columnsU[m]);
      turn(right.rows[m][k], columnsR[m]);
      System.arraycopy(columnsU[m], 0, u[m], 0, n);
      System.arraycopy(columnsR[m], 0, r[m], 0, n);
    }
  }

  /** Puts the right-hand side of lines in x back. */
  void giveX(Field right, int k) {
    for (int m = 0; m < u.length; ++m) {
      turn(columnsR[m], right.rows[m][k]);
    }
  }

  /** Lines in y of plane k, where they are. */
  void takeY(Field from, Field right, int k) {
    for (int m = 0; m < u.length; ++m) {
      System.arraycopy(from.rows[m][k], 0, u[m], 0, n);
      System.arraycopy(right.rows[m][k], 0, r[m], 0, n);
    }
  }

  /** Lines in z of the rows j of all planes, where they are. */
  void takeZ(Field from, Field right, int j) {
    for (int m = 0; m < u.length; ++m) {
      for (int k = 0; k < n; ++k) {
        u[m][k] = from.rows[m][k][j];
        r[m][k] = right.rows[m][k][j];
      }
    }
  }

  private static void turn(double[][] from, double[][] to) {
    final int n = from.length;
    for (int j = 0; j < n; j += TILE) {
      final int end = Math.min(j + TILE, n);
      for (int i = 0; i < n; ++i) {
        final double[] column = to[i];
        for (int l = j; l < end; ++l) {
          column[l] = from[l][i];
        }
      }
    }
  }
}
