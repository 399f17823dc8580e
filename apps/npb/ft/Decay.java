package npb.ft;

import npb.Lanes;

/** FT: by how much each frequency has decayed at a time, a factor for each direction. */
final class Decay {
  private static final double RATE = -4e-6 * Math.PI * Math.PI;

  /** Of x, part by part of a row. */
  final double[][] parts;
  final double[] y;
  final double[] z;
  private final double[] x;

  Decay(Problem problem) {
    x = new double[problem.nx()];
    parts = new double[problem.nx() / Lines.COUNT][Lanes.length(Lines.COUNT)];
    y = new double[problem.ny()];
    z = new double[problem.nz()];
  }

  void at(int time) {
    fill(x, time);
    for (int part = 0; part < parts.length; ++part) {
      System.arraycopy(x, part * Lines.COUNT, parts[part], Lanes.FIRST, Lines.COUNT);
    }
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
