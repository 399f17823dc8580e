// SPDX-License-Identifier: Apache-2.0
package npb.ep;

import npb.Random;

/**
 * EP: pairs of uniform numbers become Gaussian ones by the polar method. What HotSpot makes vectors
 * of stands in loops of its own: neither bits of numbers nor places that depend on them.
 */
final class Numerics {
  /** Batches begin at known places of the sequence, so that any thread can compute any of them. */
  static final int LOG_BATCH = 16;

  private static final long SEED = 271828183;
  private static final int ROOM = 1024;
  private static final long HALF_ROOT = 0x3fe6a09e667f3bcdL;
  private static final long MANTISSA = 0x000fffffffffffffL;
  private static final double LOG_2 = 0.693147180559945309417;

  private final double[] numbers = new double[2 * ROOM];
  private final double[] x = new double[ROOM];
  private final double[] y = new double[ROOM];
  private final double[] t = new double[ROOM];
  private final double[] mantissa = new double[ROOM];
  private final double[] exponent = new double[ROOM];

  /** Adds the batch of that number to a tally. */
  void addBatch(long batch, Tally tally) {
    final Random random = new Random(SEED);
    final int pairs = 1 << LOG_BATCH;
    random.skip(2L * pairs * batch);
    for (int done = 0; done < pairs; done += ROOM) {
      random.fill(numbers, 0, 2 * ROOM);
      final int count = accept();
      split(count);
      transform(count);
      count(count, tally);
    }
  }

  /** Keeps the pairs that lie in the unit circle, without a branch; how many. */
  private int accept() {
    int count = 0;
    for (int i = 0; i < ROOM; ++i) {
      final double px = 2 * numbers[2 * i] - 1;
      final double py = 2 * numbers[2 * i + 1] - 1;
      final double square = px * px + py * py;
      x[count] = px;
      y[count] = py;
      t[count] = square;
      count += square <= 1 ? 1 : 0;
    }
    return count;
  }

  /** t = m 2^e with a mantissa between sqrt(1/2) and sqrt(2). */
  private void split(int count) {
    for (int i = 0; i < count; ++i) {
      final long shifted = Double.doubleToRawLongBits(t[i]) - HALF_ROOT;
      exponent[i] = (int) (shifted >> 52);
      mantissa[i] = Double.longBitsToDouble((shifted & MANTISSA) + HALF_ROOT);
    }
  }

  /** Makes accepted pairs Gaussian: absolute values in x and y, the larger of both in t. */
  private void transform(int count) {
    for (int i = 0; i < count; ++i) {
      final double m = mantissa[i];
      final double s = (m - 1) / (m + 1);
      final double z = s * s;
      // log m = 2 artanh((m - 1) / (m + 1)) as a series of nine terms.
      double series = 1.0 / 19;
      series = series * z + 1.0 / 17;
      series = series * z + 1.0 / 15;
      series = series * z + 1.0 / 13;
      series = series * z + 1.0 / 11;
      series = series * z + 1.0 / 9;
      series = series * z + 1.0 / 7;
      series = series * z + 1.0 / 5;
      series = series * z + 1.0 / 3;
      final double logarithm = exponent[i] * LOG_2 + 2 * s * (series * z + 1);
      final double factor = Math.sqrt(-2 * logarithm / t[i]);
      x[i] = Math.abs(x[i] * factor);
      y[i] = Math.abs(y[i] * factor);
    }
  }

  private void count(int count, Tally tally) {
    double sumX = 0;
    double sumY = 0;
    for (int i = 0; i < count; ++i) {
      sumX += x[i];
      sumY += y[i];
      ++tally.counts[(int) Math.max(x[i], y[i])];
    }
    tally.sumX += sumX;
    tally.sumY += sumY;
  }
}
