// SPDX-License-Identifier: Apache-2.0
package npb.cg;

import java.util.List;
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

  private static final List<Problem> ALL =
      List.of(
          new Problem('S', 1400, 7, 15, 10, 8.5971775078648),
          new Problem('W', 7000, 8, 15, 12, 10.362595087124),
          new Problem('A', 14000, 11, 15, 20, 17.130235054029),
          new Problem('B', 75000, 13, 75, 60, 22.712745482631),
          new Problem('C', 150000, 15, 75, 110, 28.973605592845),
          new Problem('D', 1500000, 21, 100, 500, 52.514532105794));

  static final KernelInfo INFO =
      new KernelInfo(
          "npb-cg",
          "conjugate gradients: the smallest eigenvalue of a random sparse matrix",
          "SWABCD",
          name -> of(name).operations(),
          name -> of(name).memoryBytes(),
          Threads::new);

  static Problem of(char name) {
    return ALL.stream().filter(one -> one.name == name).findFirst().orElseThrow();
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
