// SPDX-License-Identifier: Apache-2.0
package npb.ft;

import java.util.ArrayList;
import java.util.List;
import npb.Check;
import npb.KernelInfo;

/**
 * FT: classes (RNR-94-007 and NPB 3.4): a diffusion equation on nx * ny * nz points, solved by its
 * Fourier transform at as many times as there are checksums.
 */
record Problem(char name, int nx, int ny, int nz, double[][] checksums) {
  private static final double TOLERANCE = 1e-12;

  private static final List<Problem> ALL =
      List.of(
          new Problem('S', 64, 64, 64, Checksums.S),
          new Problem('W', 128, 128, 32, Checksums.W),
          new Problem('A', 256, 256, 128, Checksums.A),
          new Problem('B', 512, 256, 256, Checksums.B),
          new Problem('C', 512, 512, 512, Checksums.C),
          new Problem('D', 2048, 1024, 1024, Checksums.D));

  static final KernelInfo INFO =
      new KernelInfo(
          "npb-ft",
          "three-dimensional fast Fourier transforms: a diffusion equation",
          "SWABCD",
          name -> of(name).operations(),
          name -> 2.4 * 16 * of(name).points(),
          Threads::new);

  static Problem of(char name) {
    return ALL.stream().filter(one -> one.name == name).findFirst().orElseThrow();
  }

  double points() {
    return (double) nx * ny * nz;
  }

  /** As the reference counts them. */
  private double operations() {
    final double log = Math.log(points());
    return points() * (14.8157 + 7.19641 * log + (5.23518 + 7.21113 * log) * checksums.length);
  }

  /** Computed checksums beside the official ones; the deviation is that of complex numbers. */
  List<Check> checks(double[][] computed) {
    final List<Check> checks = new ArrayList<>();
    for (int i = 0; i < checksums.length; ++i) {
      final double real = checksums[i][0];
      final double imaginary = checksums[i][1];
      final double size = Math.hypot(real, imaginary);
      final double gap = Math.hypot(computed[i][0] - real, computed[i][1] - imaginary);
      checks.add(new Check("checksum", size + gap, size, TOLERANCE));
    }
    return checks;
  }
}
