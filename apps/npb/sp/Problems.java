package npb.sp;

import npb.KernelInfo;
import npb.flow.Problem;

/** SP: its classes, and what the reference counts of them. */
final class Problems {
  static final KernelInfo INFO =
      new KernelInfo(
          "npb-sp",
          "scalar-pentadiagonal solver: "
              + "implicit time steps of a compressible flow, diagonalised along lines",
          "SWABCD",
          name -> of(name).operations(881.174, -4683.91, 11484.5, -19272.4),
          name -> of(name).memoryBytes(17),
          Threads::make);

  private Problems() {}

  static Problem of(char name) {
    return Problem.of(Problems.class, name);
  }
}
