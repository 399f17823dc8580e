package npb.lu;

import npb.KernelInfo;
import npb.flow.Problem;

/** LU: its classes, and what the reference counts of them. */
final class Problems {
  static final KernelInfo INFO =
      new KernelInfo(
          "npb-lu",
          "lower-upper solver: "
              + "symmetric successive over-relaxation of a compressible flow, as a wavefront",
          "SWABCD",
          name -> of(name).operations(1984.77, -10923.3, 27770.9, -144010.0),
          name -> of(name).memoryBytes(27),
          Threads::new);

  private Problems() {}

  static Problem of(char name) {
    return Problem.of(Problems.class, name);
  }
}
