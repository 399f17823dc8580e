package npb.mg;

import java.util.Arrays;
import npb.Random;

/**
 * MG: the right side is +1 at the places of the ten largest of so many random numbers as there are
 * points, -1 at those of the ten smallest, and 0 elsewhere.
 */
final class Charges {
  private static final int OF_A_KIND = 10;

  private final double[] largest = new double[OF_A_KIND];
  private final double[] smallest = new double[OF_A_KIND];
  private final int[] largestAt = new int[OF_A_KIND];
  private final int[] smallestAt = new int[OF_A_KIND];

  Charges(Grid grid) {
    Arrays.fill(largest, -2);
    Arrays.fill(smallest, -2);
    final Random random = new Random();
    for (int z = 1; z <= grid.size; ++z) {
      for (int y = 1; y <= grid.size; ++y) {
        for (int x = 1; x <= grid.size; ++x) {
          final double value = random.next();
          if (value > largest[OF_A_KIND - 1]) {
            insert(largest, largestAt, value, grid.at(z, y) + x);
          }
          if (-value > smallest[OF_A_KIND - 1]) {
            insert(smallest, smallestAt, -value, grid.at(z, y) + x);
          }
        }
      }
    }
  }

  void put(double[] values) {
    Arrays.fill(values, 0);
    for (int i = 0; i < OF_A_KIND; ++i) {
      values[largestAt[i]] = 1;
      values[smallestAt[i]] = -1;
    }
  }

  /** Keeps the best in front. */
  private static void insert(double[] best, int[] places, double value, int place) {
    int to = OF_A_KIND - 1;
    for (; to > 0 && best[to - 1] < value; --to) {
      best[to] = best[to - 1];
      places[to] = places[to - 1];
    }
    best[to] = value;
    places[to] = place;
  }
}
