package npb.flow;

/**
 * The dissipation that keeps the scheme stable: coefficients of the fourth difference at every
 * point of a direction, one-sided near the ends, by offset (-2 to 2) plus 2, then by point.
 */
public final class FourthDifference {
  public final double[][] factors;

  public FourthDifference(int n) {
    factors = new double[5][n];
    for (int i = 1; i < n - 1; ++i) {
      final boolean atEnd = i == 1 || i == n - 2;
      put(0, i, i > 2 ? 1 : 0);
      put(1, i, i > 1 ? -4 : 0);
      put(2, i, atEnd ? 5 : 6);
      put(3, i, i < n - 2 ? -4 : 0);
      put(4, i, i < n - 3 ? 1 : 0);
    }
  }

  private void put(int offset, int i, double value) {
    factors[offset][i] = Equations.DISSIPATION * value;
  }
}
