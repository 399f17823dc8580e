// SPDX-License-Identifier: Apache-2.0
package npb.ft;

/** FT: by how much each frequency has decayed at a time, a factor for each direction. */
final class Decay {
  private static final double RATE = -4e-6 * Math.PI * Math.PI;

  final double[] x;
  final double[] y;
  final double[] z;

  Decay(Problem problem) {
    x = new double[problem.nx()];
    y = new double[problem.ny()];
    z = new double[problem.nz()];
  }

  void at(int time) {
    fill(x, time);
    fill(y, time);
    fill(z, time);
  }

  private static void fill(double[] factors, int time) {
    final int size = factors.length;
    for (int i = 0; i < size; ++i) {
      final double frequency = i < size / 2 ? i : i - size;
      factors[i] = Math.exp(RATE * frequency * frequency * time);
    }
  }
}
