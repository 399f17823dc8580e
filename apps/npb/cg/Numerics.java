package npb.cg;

/**
 * CG: what is computed on the rows [begin, end) of all vectors. Java adds in the order that is
 * written, so sums have several parts, which do not wait for each other.
 */
final class Numerics {
  private Numerics() {}

  /** out = A in. */
  static void multiply(Matrix matrix, double[] in, double[] out, int begin, int end) {
    final int[] column = matrix.column;
    final double[] value = matrix.value;
    int k = matrix.rowBegin[begin];
    for (int row = begin; row < end; ++row) {
      final int last = matrix.rowBegin[row + 1];
      double a = 0;
      double b = 0;
      double c = 0;
      double d = 0;
      for (; k < last - 3; k += 4) {
        a += value[k] * in[column[k]];
        b += value[k + 1] * in[column[k + 1]];
        c += value[k + 2] * in[column[k + 2]];
        d += value[k + 3] * in[column[k + 3]];
      }
      for (; k < last; ++k) {
        a += value[k] * in[column[k]];
      }
      out[row] = a + b + (c + d);
    }
  }

  static double dot(double[] left, double[] right, int begin, int end) {
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;
    int i = begin;
    for (; i < end - 3; i += 4) {
      a += left[i] * right[i];
      b += left[i + 1] * right[i + 1];
      c += left[i + 2] * right[i + 2];
      d += left[i + 3] * right[i + 3];
    }
    for (; i < end; ++i) {
      a += left[i] * right[i];
    }
    return a + b + (c + d);
  }

  /** to += factor from. */
  static void add(double[] to, double factor, double[] from, int begin, int end) {
    for (int i = begin; i < end; ++i) {
      to[i] += factor * from[i];
    }
  }

  /** p = r + beta p. */
  static void turn(double[] p, double beta, double[] r, int begin, int end) {
    for (int i = begin; i < end; ++i) {
      p[i] = r[i] + beta * p[i];
    }
  }

  /** x = scale z. */
  static void scale(double[] x, double scale, double[] z, int begin, int end) {
    for (int i = begin; i < end; ++i) {
      x[i] = scale * z[i];
    }
  }
}
