package npb.bt;

import npb.KernelInfo;
import npb.flow.Problem;

/** BT: its classes, and what the reference counts of them. */
final class Problems {
  static final KernelInfo INFO =
      new KernelInfo(
          "npb-bt",
          "block-tridiagonal solver: "
              + "implicit time steps of a compressible flow, 5 x 5 blocks along lines",
          "SWABCD",
          name -> of(name).operations(3478.8, -17655.7, 28023.7, 0.0),
          name -> of(name).memoryBytes(20),
          Threads::make);

  private Problems() {}

  static Problem of(char name) {
    return Problem.of(Problems.class, name);
  }
}
