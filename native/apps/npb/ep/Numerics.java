// SPDX-License-Identifier: Apache-2.0
package npb.ep;

import npb.Lanes;
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
  /** Bits of 1, with those of a number behind them: a number of [1, 2). No conversion is needed. */
  private static final long ONE = 0x3ff0000000000000L;
  private static final int SHIFT = 52 - 46;
  /** An exponent is kept as what is added to 2^52 + 2^51. */
  private static final double OFFSET = 0x1.8p52;
  private static final long OFFSET_BITS = Double.doubleToRawLongBits(OFFSET);
  private static final double LOG_2 = 0.693147180559945309417;
  /** A count of up to 63 takes so many bits of a number that has one for each annulus. */
  private static final int BITS = 6;
  private static final int COUNTED = (1 << BITS) - 4;

  private final Random.Block random = new Random.Block(SEED, 2 * ROOM);
  private final double[] x = Lanes.of(ROOM, 0);
  private final double[] y = Lanes.of(ROOM, 0);
  private final double[] t = Lanes.of(ROOM, 0);
  private final double[] mantissa = Lanes.of(ROOM, 0);
  private final double[] exponent = Lanes.of(ROOM, 0);

  /** Adds the batch of that number to a tally. */
  void addBatch(long batch, Tally tally) {
    final int pairs = 1 << LOG_BATCH;
    random.start(2L * pairs * batch);
    for (int done = 0; done < pairs; done += ROOM) {
      final int end = Lanes.FIRST + accept();
      transform(Lanes.length(end - Lanes.FIRST));
      add(end, tally);
      count(end, tally);
      random.next();
    }
  }

  /**
   * Keeps the pairs that lie in the unit circle, without a branch, and takes their squares apart:
   * t = m 2^e with a mantissa between sqrt(1/2) and sqrt(2). How many there are.
   */
  private int accept() {
    final long[] states = random.states;
    int at = Lanes.FIRST;
    for (int i = Lanes.FIRST; i < states.length; i += 2) {
      final double px = 2 * Double.longBitsToDouble(states[i] << SHIFT | ONE) - 3;
      final double py = 2 * Double.longBitsToDouble(states[i + 1] << SHIFT | ONE) - 3;
      final double square = px * px + py * py;
      final long shifted = Double.doubleToRawLongBits(square) - HALF_ROOT;
      x[at] = px;
      y[at] = py;
      t[at] = square;
      exponent[at] = Double.longBitsToDouble((shifted >> 52) + OFFSET_BITS);
      mantissa[at] = Double.longBitsToDouble((shifted & MANTISSA) + HALF_ROOT);
      // The next pair replaces this one where 1 - square has a sign.
      at += 1 + (int) (Double.doubleToRawLongBits(1 - square) >> 63);
    }
    return at - Lanes.FIRST;
  }

  /** Makes accepted pairs Gaussian: absolute values in x and y, the larger of both in t. */
  private void transform(int end) {
    for (int i = Lanes.FROM; i < end; ++i) {
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
      final double logarithm = (exponent[i] - OFFSET) * LOG_2 + 2 * s * (series * z + 1);
      final double factor = Math.sqrt(-2 * logarithm / t[i]);
      final double px = Math.abs(x[i] * factor);
      final double py = Math.abs(y[i] * factor);
      x[i] = px;
      y[i] = py;
      t[i] = Math.max(px, py);
    }
  }

  /** Several sums of each, which do not wait for each other. */
  private void add(int end, Tally tally) {
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;
    double e = 0;
    double f = 0;
    double g = 0;
    double h = 0;
    int i = Lanes.FIRST;
    for (; i < end - 3; i += 4) {
      a += x[i];
      b += x[i + 1];
      c += x[i + 2];
      d += x[i + 3];
      e += y[i];
      f += y[i + 1];
      g += y[i + 2];
      h += y[i + 3];
    }
    for (; i < end; ++i) {
      a += x[i];
      e += y[i];
    }
    tally.sumX += a + b + (c + d);
    tally.sumY += e + f + (g + h);
  }

  /** Counts by annulus, several pairs at a time in one number. */
  private void count(int end, Tally tally) {
    for (int from = Lanes.FIRST; from < end; from += COUNTED) {
      final int to = Math.min(from + COUNTED, end);
      long packed = 0;
      for (int i = from; i < to; ++i) {
        packed += 1L << BITS * (int) t[i];
      }
      for (int annulus = 0; annulus < tally.counts.length; ++annulus) {
        tally.counts[annulus] += packed >>> BITS * annulus & (1 << BITS) - 1;
      }
    }
  }
}
