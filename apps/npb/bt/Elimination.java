package npb.bt;

import static npb.Fused.add;
import static npb.bt.Block.R1;
import static npb.bt.Block.R2;
import static npb.bt.Block.R3;
import static npb.bt.Block.R4;

import npb.flow.Tile;

/** BT: what block Gaussian elimination does with blocks and columns of lanes up to {@code end}. */
final class Elimination {
  private Elimination() {}

  /** y = z - block x, where the block is that of a neighbour: not all of its entries count. */
  static void subtractNeighbour(double[][] block, double[] x, double[] z, double[] y, int end) {
    final double[] c0 = block[0];
    final double[] c1 = block[1];
    final double[] c2 = block[2];
    final double[] c3 = block[3];
    final double[] c4 = block[4];
    for (int l = Tile.FROM; l < end; ++l) {
      final double x0 = -x[l];
      final double x1 = -x[R1 + l];
      final double x2 = -x[R2 + l];
      final double x3 = -x[R3 + l];
      final double x4 = -x[R4 + l];
      final double y1 = add(c0[R1 + l], x0, add(c1[R1 + l], x1, z[R1 + l]));
      final double y4 = add(c0[R4 + l], x0, add(c1[R4 + l], x1, z[R4 + l]));
      y[l] = add(c0[l], x0, add(c1[l], x1, z[l]));
      y[R1 + l] = add(c2[R1 + l], x2, add(c3[R1 + l], x3, add(c4[R1 + l], x4, y1)));
      y[R2 + l] = add(c0[R2 + l], x0, add(c1[R2 + l], x1, add(c2[R2 + l], x2, z[R2 + l])));
      y[R3 + l] = add(c0[R3 + l], x0, add(c1[R3 + l], x1, add(c3[R3 + l], x3, z[R3 + l])));
      y[R4 + l] = add(c2[R4 + l], x2, add(c3[R4 + l], x3, add(c4[R4 + l], x4, y4)));
    }
  }

  /** y -= block x. */
  static void subtract(double[][] block, double[] x, double[] y, int end) {
    final double[] c0 = block[0];
    final double[] c1 = block[1];
    final double[] c2 = block[2];
    final double[] c3 = block[3];
    final double[] c4 = block[4];
    for (int l = Tile.FROM; l < end; ++l) {
      final double x0 = -x[l];
      final double x1 = -x[R1 + l];
      final double x2 = -x[R2 + l];
      final double x3 = -x[R3 + l];
      final double x4 = -x[R4 + l];
      final double y0 = add(c0[l], x0, add(c1[l], x1, y[l]));
      final double y1 = add(c0[R1 + l], x0, add(c1[R1 + l], x1, y[R1 + l]));
      final double y2 = add(c0[R2 + l], x0, add(c1[R2 + l], x1, y[R2 + l]));
      final double y3 = add(c0[R3 + l], x0, add(c1[R3 + l], x1, y[R3 + l]));
      final double y4 = add(c0[R4 + l], x0, add(c1[R4 + l], x1, y[R4 + l]));
      y[l] = add(c2[l], x2, add(c3[l], x3, add(c4[l], x4, y0)));
      y[R1 + l] = add(c2[R1 + l], x2, add(c3[R1 + l], x3, add(c4[R1 + l], x4, y1)));
      y[R2 + l] = add(c2[R2 + l], x2, add(c3[R2 + l], x3, add(c4[R2 + l], x4, y2)));
      y[R3 + l] = add(c2[R3 + l], x2, add(c3[R3 + l], x3, add(c4[R3 + l], x4, y3)));
      y[R4 + l] = add(c2[R4 + l], x2, add(c3[R4 + l], x3, add(c4[R4 + l], x4, y4)));
    }
  }

  /**
   * Replaces a block by its triangular factors: L below the diagonal, whose own diagonal is 1, and
   * U, with the inverse of its diagonal.
   */
  static void factor(double[][] block, int end) {
    factorFirst(block[0], block[1], block[2], block[3], block[4], end);
    factorLast(block[2], block[3], block[4], end);
  }

  /** The first two columns, and what the others become for it. */
  private static void factorFirst(
      double[] c0, double[] c1, double[] c2, double[] c3, double[] c4, int end) {
    for (int l = Tile.FROM; l < end; ++l) {
      final double pivot = 1.0 / c0[l];
      final double one = -c0[R1 + l] * pivot;
      final double two = -c0[R2 + l] * pivot;
      final double three = -c0[R3 + l] * pivot;
      final double four = -c0[R4 + l] * pivot;
      final double a = c1[l];
      final double b = c2[l];
      final double c = c3[l];
      final double d = c4[l];
      final double next = 1.0 / add(one, a, c1[R1 + l]);
      final double below2 = -add(two, a, c1[R2 + l]) * next;
      final double below3 = -add(three, a, c1[R3 + l]) * next;
      final double below4 = -add(four, a, c1[R4 + l]) * next;
      final double e = add(one, b, c2[R1 + l]);
      final double f = add(one, c, c3[R1 + l]);
      final double g = add(one, d, c4[R1 + l]);
      c0[l] = pivot;
      c0[R1 + l] = -one;
      c0[R2 + l] = -two;
      c0[R3 + l] = -three;
      c0[R4 + l] = -four;
      c1[R1 + l] = next;
      c1[R2 + l] = -below2;
      c1[R3 + l] = -below3;
      c1[R4 + l] = -below4;
      c2[R1 + l] = e;
      c3[R1 + l] = f;
      c4[R1 + l] = g;
      c2[R2 + l] = add(two, b, add(below2, e, c2[R2 + l]));
      c2[R3 + l] = add(three, b, add(below3, e, c2[R3 + l]));
      c2[R4 + l] = add(four, b, add(below4, e, c2[R4 + l]));
      c3[R2 + l] = add(two, c, add(below2, f, c3[R2 + l]));
      c3[R3 + l] = add(three, c, add(below3, f, c3[R3 + l]));
      c3[R4 + l] = add(four, c, add(below4, f, c3[R4 + l]));
      c4[R2 + l] = add(two, d, add(below2, g, c4[R2 + l]));
      c4[R3 + l] = add(three, d, add(below3, g, c4[R3 + l]));
      c4[R4 + l] = add(four, d, add(below4, g, c4[R4 + l]));
    }
  }

  /** The last three columns, whose first two rows are ready. */
  private static void factorLast(double[] c2, double[] c3, double[] c4, int end) {
    for (int l = Tile.FROM; l < end; ++l) {
      final double pivot = 1.0 / c2[R2 + l];
      final double three = c2[R3 + l] * pivot;
      final double four = c2[R4 + l] * pivot;
      final double b = c3[R2 + l];
      final double c = c4[R2 + l];
      final double next = 1.0 / add(-three, b, c3[R3 + l]);
      final double d = add(-three, c, c4[R3 + l]);
      final double below = add(-four, b, c3[R4 + l]) * next;
      c2[R2 + l] = pivot;
      c2[R3 + l] = three;
      c2[R4 + l] = four;
      c3[R3 + l] = next;
      c3[R4 + l] = below;
      c4[R3 + l] = d;
      c4[R4 + l] = 1.0 / add(-four, c, add(-below, d, c4[R4 + l]));
    }
  }

  /** Solves L U y = x. */
  static void solve(double[][] factors, double[] x, double[] y, int end) {
    final double[] c0 = factors[0];
    final double[] c1 = factors[1];
    final double[] c2 = factors[2];
    final double[] c3 = factors[3];
    final double[] c4 = factors[4];
    for (int l = Tile.FROM; l < end; ++l) {
      final double a = -x[l];
      final double b = -add(c0[R1 + l], a, x[R1 + l]);
      final double c = -add(c0[R2 + l], a, add(c1[R2 + l], b, x[R2 + l]));
      final double three = add(c0[R3 + l], a, add(c1[R3 + l], b, x[R3 + l]));
      final double d = -add(c2[R3 + l], c, three);
      final double four = add(c0[R4 + l], a, add(c1[R4 + l], b, x[R4 + l]));
      final double y4 = add(c2[R4 + l], c, add(c3[R4 + l], d, four)) * c4[R4 + l];
      final double y3 = add(c4[R3 + l], y4, d) * -c3[R3 + l];
      final double y2 = add(c4[R2 + l], y4, add(c3[R2 + l], y3, c)) * -c2[R2 + l];
      final double up = add(c4[R1 + l], y4, add(c3[R1 + l], y3, b));
      final double y1 = add(c2[R1 + l], y2, up) * -c1[R1 + l];
      final double top = add(c4[l], y4, add(c3[l], y3, a));
      y[l] = add(c2[l], y2, add(c1[l], y1, top)) * -c0[l];
      y[R1 + l] = y1;
      y[R2 + l] = y2;
      y[R3 + l] = y3;
      y[R4 + l] = y4;
    }
  }
}
