package npb.ep;

import java.util.List;
import npb.Check;
import npb.Classes;
import npb.KernelInfo;

/**
 * EP: classes and official values (RNR-94-007; values as NPB 3.4 has them): 2^logPairs pairs, the
 * sums of |X| and |Y|, and how many pairs there are.
 */
record Problem(char name, int logPairs, double sumX, double sumY, double count) {
  static final KernelInfo INFO =
      new KernelInfo(
          "npb-ep",
          "embarrassingly parallel: Gaussian pairs of random numbers, counted by annulus",
          "SWABCD",
          name -> Math.scalb(1.0, of(name).logPairs + 1),
          name -> 1e6,
          Threads::new);

  static Problem of(char name) {
    final double[] numbers = Classes.of(Problem.class, name);
    return new Problem(name, (int) numbers[0], numbers[1], numbers[2], numbers[3]);
  }

  List<Check> checks(Tally tally) {
    final double tolerance = 1e-8;
    return List.of(
        new Check("sum of |X|", tally.sumX, sumX, tolerance),
        new Check("sum of |Y|", tally.sumY, sumY, tolerance),
        new Check("pairs", tally.pairs(), count, 0));
  }
}
