package npb.ep;

import java.util.Arrays;
import npb.Fused;
import npb.Lanes;
import npb.Random;

/**
 * EP: pairs of uniform numbers become Gaussian ones by the polar method. What HotSpot makes vectors
 * of stands in loops of its own, without bits of numbers. Pairs outside of the unit circle stay
 * where they are, as zeros: to leave them out takes longer than to compute them.
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
  /** The lowest bits of a sum with it are those of a whole number. */
  private static final double WHOLE = 0x1p52;
  private static final double LOG_2 = 0.693147180559945309417;
  /** A count of up to 63 takes so many bits of a number that has one for each annulus. */
  private static final int BITS = 6;
  private static final int COUNTED = (1 << BITS) - 4;

  private final Random.Block randomX = new Random.Block(SEED, ROOM, 2);
  private final Random.Block randomY = new Random.Block(SEED, ROOM, 2);
  private final double[] x = Lanes.of(ROOM, 0);
  private final double[] y = Lanes.of(ROOM, 0);
  private final double[] t = Lanes.of(ROOM, 0);
  private final double[] mantissa = Lanes.of(ROOM, 0);
  private final double[] exponent = Lanes.of(ROOM, 0);
  /** Sums by place of a pair, which do not wait for each other: of |X|, |Y| and pairs outside. */
  private final double[] sumX = Lanes.of(ROOM, 0);
  private final double[] sumY = Lanes.of(ROOM, 0);
  private final double[] outside = Lanes.of(ROOM, 0);

  /** Adds the batch of that number to a tally. */
  void addBatch(long batch, Tally tally) {
    final int pairs = 1 << LOG_BATCH;
    randomX.start(2L * pairs * batch);
    randomY.start(2L * pairs * batch + 1);
    for (int done = 0; done < pairs; done += ROOM) {
      take(randomX.states, x);
      take(randomY.states, y);
      square();
      takeApart();
      transform();
      place();
      count(tally);
      randomX.next();
      randomY.next();
    }
    tally.sumX += taken(sumX);
    tally.sumY += taken(sumY);
    tally.counts[0] -= (long) taken(outside);
  }

  /** Random numbers plus 1. */
  private static void take(long[] states, double[] to) {
    for (int i = Lanes.FROM; i < to.length; ++i) {
      to[i] = Double.longBitsToDouble(states[i] << SHIFT | ONE);
    }
  }

  private void square() {
    for (int i = Lanes.FROM; i < t.length; ++i) {
      final double px = 2 * x[i] - 3;
      final double py = 2 * y[i] - 3;
      final double square = px * px + py * py;
      x[i] = px;
      y[i] = py;
      t[i] = square;
      outside[i] += Math.ceil(square - 1);
    }
  }

  /** t = m 2^e with a mantissa between sqrt(1/2) and sqrt(2). */
  private void takeApart() {
    for (int i = Lanes.FROM; i < t.length; ++i) {
      final long shifted = Double.doubleToRawLongBits(t[i]) - HALF_ROOT;
      exponent[i] = Double.longBitsToDouble((shifted >> 52) + OFFSET_BITS);
      mantissa[i] = Double.longBitsToDouble((shifted & MANTISSA) + HALF_ROOT);
    }
  }

  /** Makes pairs Gaussian, zero if they are outside: then log t > 0. */
  private void transform() {
    for (int i = Lanes.FROM; i < t.length; ++i) {
      final double m = mantissa[i];
      final double s = (m - 1) / (m + 1);
      final double z = s * s;
      // log m = 2 artanh((m - 1) / (m + 1)) as a series of nine terms.
      double series = Fused.add(1.0 / 19, z, 1.0 / 17);
      series = Fused.add(series, z, 1.0 / 15);
      series = Fused.add(series, z, 1.0 / 13);
      series = Fused.add(series, z, 1.0 / 11);
      series = Fused.add(series, z, 1.0 / 9);
      series = Fused.add(series, z, 1.0 / 7);
      series = Fused.add(series, z, 1.0 / 5);
      series = Fused.add(series, z, 1.0 / 3);
      final double logarithm =
          Fused.add(exponent[i] - OFFSET, LOG_2, 2 * s * Fused.add(series, z, 1));
      final double factor = Math.sqrt(Math.max(-2 * logarithm / t[i], 0.0));
      final double px = Math.abs(x[i] * factor);
      final double py = Math.abs(y[i] * factor);
      sumX[i] += px;
      sumY[i] += py;
      t[i] = Math.max(px, py);
    }
  }

  /** The annulus of a pair, as the place of its count. */
  private void place() {
    for (int i = Lanes.FROM; i < t.length; ++i) {
      t[i] = BITS * Math.floor(t[i]) + WHOLE;
    }
  }

  /** Counts by annulus, several pairs at a time in one number. */
  private void count(Tally tally) {
    for (int from = Lanes.FIRST; from < t.length; from += COUNTED) {
      final int to = Math.min(from + COUNTED, t.length);
      long packed = 0;
      for (int i = from; i < to; ++i) {
        packed += 1L << Double.doubleToRawLongBits(t[i]);
      }
      for (int annulus = 0; annulus < tally.counts.length; ++annulus) {
        tally.counts[annulus] += packed >>> BITS * annulus & (1 << BITS) - 1;
      }
    }
  }

  /** The total of sums, which begin anew. */
  private static double taken(double[] sums) {
    double total = 0;
    for (int i = Lanes.FIRST; i < sums.length; ++i) {
      total += sums[i];
    }
    Arrays.fill(sums, 0);
    return total;
  }
}
