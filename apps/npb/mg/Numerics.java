package npb.mg;

import java.util.Arrays;

/**
 * MG: stencils of 27 points, row by row. HotSpot makes vectors of a loop where all arrays are read
 * and written at one index only: so rows are copied, and shifted, before they are combined. Every
 * stencil is a {@code base} of its point and {@code side} of the points before and behind it.
 */
final class Numerics {
  private static final double[] OPERATOR = {-8.0 / 3, 1.0 / 6, 1.0 / 12};

  private final double[] near;
  private final double[] far;
  private final double[] base;
  private final double[] side;
  private final double[] before;
  private final double[] behind;
  private final double[] other;
  /** Rows around a row: z - 1, z and z + 1, in each y - 1, y and y + 1. */
  private final double[][] around;

  Numerics(int size) {
    final int row = size + 2;
    near = new double[row];
    far = new double[row];
    base = new double[row];
    side = new double[row];
    before = new double[row];
    behind = new double[row];
    other = new double[row];
    around = new double[9][row];
  }

  /** r = v - A u in planes [first, last]; v and r may be one. */
  void residual(Grid u, Grid v, Grid r, int first, int last) {
    for (int z = first; z <= last; ++z) {
      for (int y = 1; y <= u.size; ++y) {
        takeNext(u, z, y);
        System.arraycopy(v.values, v.at(z, y), other, 0, u.row);
        sums(u.row);
        residualRow(around[4], u.row);
        store(r, z, y);
      }
    }
  }

  /** u += S r, or u = S r where u is not known yet. */
  void smooth(double[] s, Grid r, Grid u, boolean adds, int first, int last) {
    for (int z = first; z <= last; ++z) {
      for (int y = 1; y <= u.size; ++y) {
        takeNext(r, z, y);
        if (adds) {
          System.arraycopy(u.values, u.at(z, y), other, 0, u.row);
        } else {
          Arrays.fill(other, 0, u.row, 0);
        }
        sums(u.row);
        smoothRow(s, around[4], u.row);
        store(u, z, y);
      }
    }
  }

  /** Means of fine points become those of the coarse planes [first, last]. */
  void restrictTo(Grid fine, Grid coarse, int first, int last) {
    for (int z = first; z <= last; ++z) {
      for (int y = 1; y <= coarse.size; ++y) {
        take(fine, 2 * z, 2 * y);
        sums(fine.row);
        meanRow(around[4], fine.row);
        final int to = coarse.at(z, y);
        for (int x = 1; x <= coarse.size; ++x) {
          coarse.values[to + x] = base[2 * x] + (side[2 * x - 1] + side[2 * x + 1]);
        }
      }
    }
  }

  /** Adds the mean of the coarse points around every fine one, or sets it, also in the layer. */
  void interpolate(Grid coarse, Grid fine, boolean adds, int first, int last) {
    for (int z = first; z <= last; ++z) {
      for (int y = 0; y <= fine.size + 1; ++y) {
        final int low = z >> 1;
        final int high = (z + 1) >> 1;
        System.arraycopy(coarse.values, coarse.at(low, y >> 1), around[0], 0, coarse.row);
        System.arraycopy(coarse.values, coarse.at(low, (y + 1) >> 1), around[1], 0, coarse.row);
        System.arraycopy(coarse.values, coarse.at(high, y >> 1), around[2], 0, coarse.row);
        System.arraycopy(coarse.values, coarse.at(high, (y + 1) >> 1), around[3], 0, coarse.row);
        between(coarse.row);
        spread(fine.values, fine.at(z, y), coarse.size + 1, adds);
      }
    }
  }

  /** The sum of the squares of planes [first, last], in four parts that do not wait. */
  static double squares(Grid r, int first, int last) {
    double a = 0;
    double b = 0;
    for (int z = first; z <= last; ++z) {
      for (int y = 1; y <= r.size; ++y) {
        final int at = r.at(z, y);
        for (int x = at + 1; x <= at + r.size; x += 2) {
          a += r.values[x] * r.values[x];
          b += r.values[x + 1] * r.values[x + 1];
        }
      }
    }
    return a + b;
  }

  /** The rows around a row, of which those of y - 1 and y are there after the first. */
  private void takeNext(Grid grid, int z, int y) {
    if (y == 1) {
      take(grid, z, y);
      return;
    }
    for (int plane = 0; plane < 3; ++plane) {
      final double[] oldest = around[3 * plane];
      around[3 * plane] = around[3 * plane + 1];
      around[3 * plane + 1] = around[3 * plane + 2];
      around[3 * plane + 2] = oldest;
      System.arraycopy(grid.values, grid.at(z + plane - 1, y + 1), oldest, 0, grid.row);
    }
  }

  private void take(Grid grid, int z, int y) {
    for (int i = 0; i < 9; ++i) {
      final int at = grid.at(z + i / 3 - 1, y + i % 3 - 1);
      System.arraycopy(grid.values, at, around[i], 0, grid.row);
    }
  }

  /** Sums of a row's four neighbours at a distance of one point, and of four at the diagonals. */
  private void sums(int row) {
    final double[] a = around[1];
    final double[] b = around[3];
    final double[] c = around[5];
    final double[] d = around[7];
    final double[] e = around[0];
    final double[] f = around[2];
    final double[] g = around[6];
    final double[] h = around[8];
    for (int i = 0; i < row; ++i) {
      near[i] = b[i] + c[i] + a[i] + d[i];
      far[i] = e[i] + f[i] + g[i] + h[i];
    }
  }

  private void residualRow(double[] centre, int row) {
    final double a0 = OPERATOR[0];
    final double a1 = OPERATOR[1];
    final double a2 = OPERATOR[2];
    for (int i = 0; i < row; ++i) {
      base[i] = other[i] - a0 * centre[i] - a1 * far[i];
      side[i] = -a1 * near[i] - a2 * far[i];
    }
  }

  private void smoothRow(double[] s, double[] centre, int row) {
    final double s0 = s[0];
    final double s1 = s[1];
    final double s2 = s[2];
    for (int i = 0; i < row; ++i) {
      base[i] = other[i] + (s0 * centre[i] + s1 * near[i] + s2 * far[i]);
      side[i] = s1 * centre[i] + s2 * near[i];
    }
  }

  private void meanRow(double[] centre, int row) {
    for (int i = 0; i < row; ++i) {
      base[i] = 0.5 * centre[i] + 0.25 * near[i] + 0.125 * far[i];
      side[i] = 0.25 * centre[i] + 0.125 * near[i] + 0.0625 * far[i];
    }
  }

  /** The base and both sides of a row become that of a grid. */
  private void store(Grid grid, int z, int y) {
    final int row = grid.row;
    System.arraycopy(side, 0, before, 1, row - 1);
    System.arraycopy(side, 1, behind, 0, row - 1);
    for (int i = 0; i < row; ++i) {
      base[i] += before[i] + behind[i];
    }
    System.arraycopy(base, 1, grid.values, grid.at(z, y) + 1, grid.size);
  }

  /** The mean of four coarse rows, and halfway between its points. */
  private void between(int row) {
    final double[] a = around[0];
    final double[] b = around[1];
    final double[] c = around[2];
    final double[] d = around[3];
    for (int i = 0; i < row; ++i) {
      base[i] = 0.25 * (a[i] + b[i] + (c[i] + d[i]));
    }
    System.arraycopy(base, 1, behind, 0, row - 1);
    for (int i = 0; i < row; ++i) {
      side[i] = 0.5 * (base[i] + behind[i]);
    }
  }

  private void spread(double[] to, int at, int count, boolean adds) {
    if (adds) {
      for (int i = 0; i < count; ++i) {
        to[at + 2 * i] += base[i];
        to[at + 2 * i + 1] += side[i];
      }
    } else {
      for (int i = 0; i < count; ++i) {
        to[at + 2 * i] = base[i];
        to[at + 2 * i + 1] = side[i];
      }
    }
  }
}
