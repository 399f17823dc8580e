package npb.cg;

import java.util.Arrays;

/** CG: the order of a step of inverse iteration, as each thread goes through it. */
final class Solver {
  /** What threads do together. */
  interface Exchange {
    /** Waits until all have their part of a vector, and multiplies the own rows. */
    void multiply(double[] in, double[] out);

    /** Totals over all threads, at all of them, in place. */
    void sum(double[] numbers);
  }

  private final Exchange exchange;
  private final double[][] vectors;
  private final int begin;
  private final int end;
  private final double[] one = new double[1];
  private final double[] two = new double[2];

  /** {@code vectors} are x, z, p, q and r; rows [begin, end) are this thread's. */
  Solver(Exchange exchange, double[][] vectors, int begin, int end) {
    this.exchange = exchange;
    this.vectors = vectors;
    this.begin = begin;
    this.end = end;
  }

  /** x becomes the normalised solution; the estimate of the eigenvalue with {@code shift}. */
  double iterate(double shift) {
    solve();
    final double[] x = vectors[0];
    final double[] z = vectors[1];
    two[0] = Numerics.dot(x, z, begin, end);
    two[1] = Numerics.dot(z, z, begin, end);
    exchange.sum(two);
    Numerics.scale(x, 1 / Math.sqrt(two[1]), z, begin, end);
    return shift + 1 / two[0];
  }

  /** Solves A z = x in so many steps of conjugate gradients; |x - A z|. */
  private double solve() {
    final double[] x = vectors[0];
    final double[] z = vectors[1];
    final double[] p = vectors[2];
    final double[] q = vectors[3];
    final double[] r = vectors[4];
    Arrays.fill(z, begin, end, 0);
    System.arraycopy(x, begin, r, begin, end - begin);
    System.arraycopy(x, begin, p, begin, end - begin);
    double rho = total(Numerics.dot(r, r, begin, end));
    for (int step = 0; step < Problem.INNER_STEPS; ++step) {
      exchange.multiply(p, q);
      final double alpha = rho / total(Numerics.dot(p, q, begin, end));
      final double before = rho;
      Numerics.add(z, alpha, p, begin, end);
      Numerics.add(r, -alpha, q, begin, end);
      rho = total(Numerics.dot(r, r, begin, end));
      Numerics.turn(p, rho / before, r, begin, end);
    }
    exchange.multiply(z, r);
    Numerics.turn(r, -1, x, begin, end);
    return Math.sqrt(total(Numerics.dot(r, r, begin, end)));
  }

  private double total(double number) {
    one[0] = number;
    exchange.sum(one);
    return one[0];
  }
}
