package npb.is;

import java.util.Arrays;
import npb.Random;

/** IS: counting keys of a part, by bucket and one by one. */
final class Numerics {
  private Numerics() {}

  /** The keys [begin, end): four random numbers each. */
  static void makeKeys(Problem problem, int[] keys, int begin, int end) {
    final Random random = new Random();
    random.skip(4L * begin);
    final double quarter = problem.maxKey() / 4.0;
    for (int i = begin; i < end; ++i) {
      double sum = random.next();
      sum += random.next();
      sum += random.next();
      sum += random.next();
      keys[i] = (int) (quarter * sum);
    }
  }

  /** Two keys are other ones in every iteration. */
  static void changeKeys(Problem problem, int iteration, int[] keys) {
    keys[iteration] = iteration;
    keys[iteration + Problem.ITERATIONS] = problem.maxKey() - iteration;
  }

  /**
   * How many of the keys [begin, end) are in each bucket. Two tables take turns, since equal
   * neighbours would wait for each other; an even number of keys.
   */
  static void countBuckets(int[] keys, int begin, int end, int shift, int[] counts, int[] other) {
    Arrays.fill(counts, 0);
    Arrays.fill(other, 0);
    for (int i = begin; i + 1 < end; i += 2) {
      ++counts[keys[i] >>> shift];
      ++other[keys[i + 1] >>> shift];
    }
    if ((end - begin) % 2 == 1) {
      ++counts[keys[end - 1] >>> shift];
    }
    for (int bucket = 0; bucket < counts.length; ++bucket) {
      counts[bucket] += other[bucket];
    }
  }

  /** Puts keys into their buckets; {@code next} holds by bucket where its next key goes. */
  static void scatter(int[] keys, int begin, int end, int shift, int[] next, int[] out) {
    for (int i = begin; i < end; ++i) {
      final int key = keys[i];
      out[next[key >>> shift]++] = key;
    }
  }

  /** How many of the sorted keys [begin, end) are below each number [first, last). */
  static void rankKeys(int[] sorted, int begin, int end, int[] below, int first, int last) {
    Arrays.fill(below, first, last, 0);
    for (int i = begin; i < end; ++i) {
      ++below[sorted[i]];
    }
    int sum = 0;
    for (int key = first; key < last; ++key) {
      final int count = below[key];
      below[key] = sum;
      sum += count;
    }
  }

  /** How many known ranks are right, of keys [first, last) with {@code front} before them. */
  static int rightRanks(
      Problem problem, int iteration, int[] testKeys, int first, int last, int[] below, int front) {
    final int[][] tests = problem.tests();
    int right = 0;
    for (int test = 0; test < testKeys.length; ++test) {
      final int key = testKeys[test];
      if (key < first || key >= last) {
        continue;
      }
      final int change =
          tests[Problem.DIRECTION][test] * (iteration + tests[Problem.SHIFT][test]);
      right += front + below[key] == tests[Problem.RANKS][test] + change ? 1 : 0;
    }
    return right;
  }

  /** Sorts keys by their ranks, and tells how many are smaller than the one in front of them. */
  static int disorder(int[] keys, int[] below, int[] sorted) {
    for (int key : keys) {
      sorted[below[key]++] = key;
    }
    int wrong = 0;
    for (int i = 1; i < sorted.length; ++i) {
      wrong += sorted[i - 1] > sorted[i] ? 1 : 0;
    }
    return wrong;
  }
}
