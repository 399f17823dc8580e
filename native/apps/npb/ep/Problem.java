// SPDX-License-Identifier: Apache-2.0
package npb.ep;

import java.util.List;
import npb.Check;
import npb.KernelInfo;

/**
 * EP: classes and official values (RNR-94-007; values as NPB 3.4 has them): 2^logPairs pairs, the
 * sums of |X| and |Y|, and how many pairs there are.
 */
record Problem(char name, int logPairs, double sumX, double sumY, double count) {
  private static final List<Problem> ALL =
      List.of(
          new Problem('S', 24, 10512994.20395306, 10515171.31857535, 13176389),
          new Problem('W', 25, 21025055.25182392, 21031622.09578822, 26354769),
          new Problem('A', 28, 168223563.2304711, 168219512.3368299, 210832767),
          new Problem('B', 30, 672892754.3423024, 672895182.2504275, 843345606),
          new Problem('C', 32, 2691444083.862931, 2691519118.724585, 3373275903L),
          new Problem('D', 36, 43063502808.12112, 43063475718.59157, 53972171957L));

  static final KernelInfo INFO =
      new KernelInfo(
          "npb-ep",
          "embarrassingly parallel: Gaussian pairs of random numbers, counted by annulus",
          "SWABCD",
          name -> Math.scalb(1.0, of(name).logPairs + 1),
          name -> 1e6,
          Threads::new);

  static Problem of(char name) {
    return ALL.stream().filter(one -> one.name == name).findFirst().orElseThrow();
  }

  List<Check> checks(Tally tally) {
    final double tolerance = 1e-8;
    return List.of(
        new Check("sum of |X|", tally.sumX, sumX, tolerance),
        new Check("sum of |Y|", tally.sumY, sumY, tolerance),
        new Check("pairs", tally.pairs(), count, 0));
  }
}
