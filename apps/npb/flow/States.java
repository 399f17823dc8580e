package npb.flow;

import npb.Lanes;

/** What derivatives of fluxes are made of, at one point of lines that lie side by side. */
public final class States {
  public final double[][] velocity;
  /** 1 / density. */
  public final double[] volume;
  /** Energies per mass. */
  public final double[] kinetic;
  public final double[] total;

  public States(int lanes) {
    velocity = new double[3][Lanes.length(lanes)];
    volume = new double[Lanes.length(lanes)];
    kinetic = new double[Lanes.length(lanes)];
    total = new double[Lanes.length(lanes)];
  }

  /** Of the quantities of point p, at places [from, end). */
  public void set(double[][][] u, int p, int from, int end) {
    final double[] density = u[0][p];
    final double[] mx = u[1][p];
    final double[] my = u[2][p];
    final double[] mz = u[3][p];
    final double[] energy = u[4][p];
    final double[] vx = velocity[0];
    final double[] vy = velocity[1];
    final double[] vz = velocity[2];
    for (int l = from; l < end; ++l) {
      final double inverse = 1.0 / density[l];
      final double x = mx[l] * inverse;
      final double y = my[l] * inverse;
      final double z = mz[l] * inverse;
      final double e = energy[l];
      volume[l] = inverse;
      vx[l] = x;
      vy[l] = y;
      vz[l] = z;
      kinetic[l] = 0.5 * (x * x + y * y + z * z);
      total[l] = e * inverse;
    }
  }
}
