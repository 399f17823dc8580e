// SPDX-License-Identifier: Apache-2.0
package npb.is;

import java.util.List;
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

  /** Rows of a problem's tests. */
  static final int PLACES = 0;
  static final int RANKS = 1;
  static final int DIRECTION = 2;
  static final int SHIFT = 3;

  private static final int[] NONE = {0, 0, 0, 0, 0};
  private static final int[] MINUS_ONE = {-1, -1, -1, -1, -1};
  private static final int[] THREE_UP = {1, 1, 1, -1, -1};

  private static final List<Problem> ALL =
      List.of(
          new Problem('S', 16, 11, 9, new int[][] {
            {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, THREE_UP, NONE}),
          new Problem('W', 20, 16, 10, new int[][] {
            {357773, 934767, 875723, 898999, 404505},
            {1249, 11698, 1039987, 1043896, 1048018},
            {1, 1, -1, -1, -1},
            {-2, -2, 0, 0, 0}}),
          new Problem('A', 23, 19, 10, new int[][] {
            {2112377, 662041, 5336171, 3642833, 4250760},
            {104, 17523, 123928, 8288932, 8388264},
            THREE_UP,
            MINUS_ONE}),
          new Problem('B', 25, 21, 10, new int[][] {
            {41869, 812306, 5102857, 18232239, 26860214},
            {33422937, 10244, 59149, 33135281, 99},
            {-1, 1, 1, -1, 1},
            NONE}),
          new Problem('C', 27, 23, 10, new int[][] {
            {44172927, 72999161, 74326391, 129606274, 21736814},
            {61147, 882988, 266290, 133997595, 133525895},
            THREE_UP,
            NONE}));

  static final KernelInfo INFO =
      new KernelInfo(
          "npb-is",
          "integer sort: the rank of every key among all",
          "SWABC",
          name -> (double) of(name).keys() * ITERATIONS,
          name -> 12.0 * of(name).keys() + 4.0 * of(name).maxKey(),
          Threads::new);

  static Problem of(char name) {
    return ALL.stream().filter(one -> one.name == name).findFirst().orElseThrow();
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
