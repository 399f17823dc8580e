package npb.cg;

import npb.Classes;
import npb.KernelInfo;

/**
 * CG: classes and official values (RNR-94-007 and NPB 3.4). An estimate of the smallest eigenvalue
 * of a random sparse matrix of {@code size} rows, whose vectors have {@code nonzeros} elements, in
 * {@code iterations} steps of inverse iteration with {@code shift}.
 */
record Problem(char name, int size, int nonzeros, int iterations, double shift, double zeta) {
  /** Steps of conjugate gradients in one of inverse iteration. */
  static final int INNER_STEPS = 25;
  static final double CONDITION = 0.1;
  static final double TOLERANCE = 1e-10;

  static final KernelInfo INFO =
      new KernelInfo(
          "npb-cg",
          "conjugate gradients: the smallest eigenvalue of a random sparse matrix",
          "SWABCD",
          name -> of(name).operations(),
          name -> of(name).memoryBytes(),
          Threads::new);

  static Problem of(char name) {
    final double[] numbers = Classes.of(Problem.class, name);
    return new Problem(
        name, (int) numbers[0], (int) numbers[1], (int) numbers[2], numbers[3], numbers[4]);
  }

  private double operations() {
    final double perRow = nonzeros * (nonzeros + 1.0);
    return 2.0 * iterations * size * (3 + perRow + INNER_STEPS * (5 + perRow) + 3);
  }

  private double memoryBytes() {
    final double vector = nonzeros + 1.0;
    return size * (12.0 * vector * vector + 6 * 8.0);
  }
}
