package npb.is;

import npb.Classes;
import npb.KernelInfo;

/**
 * IS: classes and official values (RNR-94-007 and NPB 3.4). 2^logKeys keys below 2^logMax are
 * ranked. The keys at {@code places} have known ranks, which change with the number of the
 * iteration: by {@code direction} times the sum of it and {@code shift}. Class D has more keys than
 * an array of Java.
 */
record Problem(
    char name, int logKeys, int logMax, int logBuckets, int[][] tests) {
  static final int ITERATIONS = 10;
  static final int TESTS = 5;

  /** Rows of a problem's tests. */
  static final int PLACES = 0;
  static final int RANKS = 1;
  static final int DIRECTION = 2;
  static final int SHIFT = 3;

  static final KernelInfo INFO =
      new KernelInfo(
          "npb-is",
          "integer sort: the rank of every key among all",
          "SWABC",
          name -> (double) of(name).keys() * ITERATIONS,
          name -> 12.0 * of(name).keys() + 4.0 * of(name).maxKey(),
          Threads::new);

  static Problem of(char name) {
    final double[] numbers = Classes.of(Problem.class, name);
    final int[][] tests = new int[4][TESTS];
    for (int row = 0; row < tests.length; ++row) {
      for (int test = 0; test < TESTS; ++test) {
        tests[row][test] = (int) numbers[3 + TESTS * row + test];
      }
    }
    return new Problem(name, (int) numbers[0], (int) numbers[1], (int) numbers[2], tests);
  }

  int keys() {
    return 1 << logKeys;
  }

  int maxKey() {
    return 1 << logMax;
  }

  int buckets() {
    return 1 << logBuckets;
  }

  /** Keys by this many bits are the number of their bucket. */
  int bucketShift() {
    return logMax - logBuckets;
  }
}
