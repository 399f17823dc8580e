// SPDX-License-Identifier: Apache-2.0
package npb.mg;

import java.util.List;
import npb.KernelInfo;

/**
 * MG: classes and official values (RNR-94-007 and NPB 3.4): Poisson's equation on size^3 points
 * with periodic ends, approximated by V-cycles. The smoother has values for the centre, faces and
 * edges; of corners it is 0.
 */
record Problem(char name, int size, int iterations, double[] smoother, double norm) {
  static final double TOLERANCE = 1e-8;

  private static final double[] COARSE = {-3.0 / 8, 1.0 / 32, -1.0 / 64};
  private static final double[] FINE = {-3.0 / 17, 1.0 / 33, -1.0 / 61};

  private static final List<Problem> ALL =
      List.of(
          new Problem('S', 32, 4, COARSE, 5.307707005734e-05),
          new Problem('W', 128, 4, COARSE, 6.467329375339e-06),
          new Problem('A', 256, 4, COARSE, 2.433365309069e-06),
          new Problem('B', 256, 20, FINE, 1.800564401355e-06),
          new Problem('C', 512, 20, FINE, 5.70673228574e-07),
          new Problem('D', 1024, 50, FINE, 1.58327506044e-10));

  /** Operations as the reference counts them: 58 for a point and iteration. */
  static final KernelInfo INFO =
      new KernelInfo(
          "npb-mg",
          "multigrid: V-cycles for Poisson's equation",
          "SWABCD",
          name -> 58.0 * of(name).iterations * of(name).points(),
          name -> 8 * of(name).points() * (1 + 2 * 8.0 / 7) * 1.05,
          Threads::new);

  static Problem of(char name) {
    return ALL.stream().filter(one -> one.name == name).findFirst().orElseThrow();
  }

  /** Grids, of which the coarsest has two points in each direction. */
  int levels() {
    return Integer.numberOfTrailingZeros(size);
  }

  double points() {
    return (double) size * size * size;
  }
}
