package npb.mg;

import npb.Classes;
import npb.KernelInfo;

/**
 * MG: classes and official values (RNR-94-007 and NPB 3.4): Poisson's equation on size^3 points
 * with periodic ends, approximated by V-cycles. The smoother has values for the centre, faces and
 * edges; of corners it is 0.
 */
record Problem(char name, int size, int iterations, double[] smoother, double norm) {
  static final double TOLERANCE = 1e-8;

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
    final double[] numbers = Classes.of(Problem.class, name);
    final double[] smoother = {-3 / numbers[2], 1 / numbers[3], -1 / numbers[4]};
    return new Problem(name, (int) numbers[0], (int) numbers[1], smoother, numbers[5]);
  }

  /** Grids, of which the coarsest has two points in each direction. */
  int levels() {
    return Integer.numberOfTrailingZeros(size);
  }

  double points() {
    return (double) size * size * size;
  }
}
