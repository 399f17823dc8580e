package npb.ft;

import java.util.ArrayList;
import java.util.List;
import npb.Check;
import npb.Classes;
import npb.KernelInfo;

/**
 * FT: classes and official values (RNR-94-007 and NPB 3.4): a diffusion equation on nx * ny * nz
 * points, solved by its Fourier transform at as many times as there are checksums.
 */
record Problem(char name, int nx, int ny, int nz, double[][] checksums) {
  private static final double TOLERANCE = 1e-12;

  static final KernelInfo INFO =
      new KernelInfo(
          "npb-ft",
          "three-dimensional fast Fourier transforms: a diffusion equation",
          "SWABCD",
          name -> of(name).operations(),
          name -> 2.4 * 16 * of(name).points(),
          Threads::new);

  static Problem of(char name) {
    final double[] numbers = Classes.of(Problem.class, name);
    final double[][] checksums = new double[(int) numbers[3]][2];
    for (int i = 0; i < checksums.length; ++i) {
      System.arraycopy(numbers, 4 + 2 * i, checksums[i], 0, 2);
    }
    return new Problem(
        name, (int) numbers[0], (int) numbers[1], (int) numbers[2], checksums);
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
