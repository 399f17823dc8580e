package npb.ep;

import java.util.Arrays;

/**
 * EP: what is known of some pairs: the sums of |X| and |Y|, and of how many the larger one lies in
 * [l, l + 1).
 */
final class Tally {
  double sumX;
  double sumY;
  final long[] counts = new long[10];

  double pairs() {
    return Arrays.stream(counts).sum();
  }

  void clear() {
    sumX = 0;
    sumY = 0;
    Arrays.fill(counts, 0);
  }

  void add(Tally other) {
    sumX += other.sumX;
    sumY += other.sumY;
    for (int i = 0; i < counts.length; ++i) {
      counts[i] += other.counts[i];
    }
  }
}
