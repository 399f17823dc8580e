package npb.flow;

/**
 * Some of the lines along one direction in a plane: by point a tile of five quantities. Momenta
 * can be taken in turn, that along the direction first.
 */
final class Lines {
  /** Lines that are turned at once. */
  private static final int GROUP = 8;

  final double[][] u;
  final double[][] r;
  private final int n;

  Lines(int n) {
    this.n = n;
    u = Tile.of(n, Equations.QUANTITIES, 1);
    r = Tile.of(n, Equations.QUANTITIES, 1);
  }

  /** Takes lines [first, first + count) of a plane out of a field. */
  void take(int direction, int turn, Field field, int plane, int first, int count, double[][] to) {
    for (int m = 0; m < Equations.QUANTITIES; ++m) {
      final int quantity = turned(m, turn);
      final int at = m * Tile.APART + Tile.FIRST;
      if (direction == 0) {
        turn(field.rows[plane], quantity, first, count, to, at);
        continue;
      }
      for (int p = 0; p < n; ++p) {
        final double[][] row = direction == 1 ? field.rows[plane][p] : field.rows[p][plane];
        System.arraycopy(row[quantity], Field.X + first, to[p], at, count);
      }
    }
  }

  /** Puts the points of lines that are computed back into a field. */
  void give(
      int direction, int turn, double[][] from, Field field, int plane, int first, int count) {
    for (int m = 0; m < Equations.QUANTITIES; ++m) {
      final int quantity = turned(m, turn);
      final int at = m * Tile.APART + Tile.FIRST;
      if (direction == 0) {
        turnBack(from, at, field.rows[plane], quantity, first, count);
        continue;
      }
      for (int p = 1; p < n - 1; ++p) {
        final double[][] row = direction == 1 ? field.rows[plane][p] : field.rows[p][plane];
        System.arraycopy(from[p], at, row[quantity], Field.X + first, count);
      }
    }
  }

  private static int turned(int m, int turn) {
    return m == 0 || m == 4 ? m : 1 + (m - 1 + turn) % 3;
  }

  /** Points of rows become lanes of points. */
  private void turn(double[][][] rows, int m, int first, int count, double[][] to, int at) {
    int lane = 0;
    for (; lane + GROUP <= count; lane += GROUP) {
      turnGroup(rows, m, first + lane, to, at + lane);
    }
    for (; lane < count; ++lane) {
      final double[] row = rows[first + lane][m];
      for (int p = 0; p < n; ++p) {
        to[p][at + lane] = row[Field.X + p];
      }
    }
  }

  private void turnGroup(double[][][] rows, int m, int first, double[][] to, int at) {
    final double[] a = rows[first][m];
    final double[] b = rows[first + 1][m];
    final double[] c = rows[first + 2][m];
    final double[] d = rows[first + 3][m];
    final double[] e = rows[first + 4][m];
    final double[] f = rows[first + 5][m];
    final double[] g = rows[first + 6][m];
    final double[] h = rows[first + 7][m];
    for (int p = 0; p < n; ++p) {
      final double[] lanes = to[p];
      final int i = Field.X + p;
      lanes[at] = a[i];
      lanes[at + 1] = b[i];
      lanes[at + 2] = c[i];
      lanes[at + 3] = d[i];
      lanes[at + 4] = e[i];
      lanes[at + 5] = f[i];
      lanes[at + 6] = g[i];
      lanes[at + 7] = h[i];
    }
  }

  private void turnBack(
      double[][] from, int at, double[][][] rows, int m, int first, int count) {
    int lane = 0;
    for (; lane + GROUP <= count; lane += GROUP) {
      turnGroupBack(from, at + lane, rows, m, first + lane);
    }
    for (; lane < count; ++lane) {
      final double[] row = rows[first + lane][m];
      for (int p = 1; p < n - 1; ++p) {
        row[Field.X + p] = from[p][at + lane];
      }
    }
  }

  private void turnGroupBack(double[][] from, int at, double[][][] rows, int m, int first) {
    final double[] a = rows[first][m];
    final double[] b = rows[first + 1][m];
    final double[] c = rows[first + 2][m];
    final double[] d = rows[first + 3][m];
    final double[] e = rows[first + 4][m];
    final double[] f = rows[first + 5][m];
    final double[] g = rows[first + 6][m];
    final double[] h = rows[first + 7][m];
    for (int p = 1; p < n - 1; ++p) {
      final double[] lanes = from[p];
      final int i = Field.X + p;
      a[i] = lanes[at];
      b[i] = lanes[at + 1];
      c[i] = lanes[at + 2];
      d[i] = lanes[at + 3];
      e[i] = lanes[at + 4];
      f[i] = lanes[at + 5];
      g[i] = lanes[at + 6];
      h[i] = lanes[at + 7];
    }
  }
}
