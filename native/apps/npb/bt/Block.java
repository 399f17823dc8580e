// SPDX-License-Identifier: Apache-2.0
package npb.bt;

import java.util.Arrays;
import npb.Lanes;
import npb.flow.Equations;
import npb.flow.States;

/**
 * BT: 5 x 5 blocks at one point of lines that lie side by side: an array for each entry. They are
 * derivatives of fluxes by the quantities.
 */
final class Block {
  static final int SIZE = 5;

  /** By row, then column. */
  final double[][] entries;

  Block(int lanes) {
    entries = new double[SIZE * SIZE][Lanes.length(lanes)];
  }

  private double[] entry(int row, int column) {
    return entries[SIZE * row + column];
  }

  /** Whether an entry of a flux's derivative can differ from zero. */
  static boolean couples(int direction, int row, int column) {
    final int normal = direction + 1;
    if (row == 0) {
      return column == 0 || column == normal;
    }
    return row == 4 || row == normal || column == 0 || column == row || column == normal;
  }

  /** convective * dF/du - viscous * (dN/du + diffusion), of a neighbour. */
  void setNeighbour(int direction, States s, double convective, double viscous) {
    final int normal = direction + 1;
    final double spread = viscous * Equations.diffusion(direction);
    for (int row = 0; row < SIZE; ++row) {
      for (int column = 0; column < SIZE; ++column) {
        if (!couples(direction, row, column)) {
          Arrays.fill(entry(row, column), 0);
        }
      }
    }
    Arrays.fill(entry(0, 0), -spread);
    Arrays.fill(entry(0, normal), convective);
    Arrays.fill(entry(normal, 4), convective * Equations.K2);
    for (int m = 1; m < 4; ++m) {
      if (m != normal) {
        setAcross(direction, m, s, convective, viscous);
      }
    }
    setNormal(direction, s, convective, viscous);
    setEnergy(direction, s, convective, viscous);
  }

  private void setAcross(int direction, int m, States s, double convective, double viscous) {
    final int normal = direction + 1;
    final double mu = viscous * Equations.VISCOSITY;
    final double heat = viscous * (Equations.VISCOSITY - Equations.CONDUCTION);
    final double spread = viscous * Equations.diffusion(direction);
    final double[] vn = s.velocity[direction];
    final double[] vm = s.velocity[m - 1];
    final double[] volume = s.volume;
    final double[] toDensity = entry(m, 0);
    final double[] toSelf = entry(m, m);
    final double[] toNormal = entry(m, normal);
    final double[] fromNormal = entry(normal, m);
    final double[] energy = entry(4, m);
    for (int l = Lanes.FROM; l < volume.length; ++l) {
      final double n = vn[l];
      final double v = vm[l];
      final double w = volume[l];
      final double cross = convective * v;
      toDensity[l] = mu * w * v - cross * n;
      toSelf[l] = convective * n - mu * w - spread;
      toNormal[l] = cross;
      fromNormal[l] = -Equations.K2 * cross;
      energy[l] = -Equations.K2 * cross * n - heat * w * v;
    }
  }

  private void setNormal(int direction, States s, double convective, double viscous) {
    final int normal = direction + 1;
    final double mu = viscous * Equations.FOUR_THIRDS * Equations.VISCOSITY;
    final double spread = viscous * Equations.diffusion(direction);
    final double[] vn = s.velocity[direction];
    final double[] volume = s.volume;
    final double[] kinetic = s.kinetic;
    final double[] toDensity = entry(normal, 0);
    final double[] toSelf = entry(normal, normal);
    for (int l = Lanes.FROM; l < volume.length; ++l) {
      final double n = vn[l];
      final double w = volume[l];
      toDensity[l] = mu * w * n - convective * n * n + convective * Equations.K2 * kinetic[l];
      toSelf[l] = convective * (2.0 - Equations.K2) * n - mu * w - spread;
    }
  }

  private void setEnergy(int direction, States s, double convective, double viscous) {
    final double warm = viscous * Equations.CONDUCTION;
    final double spread = viscous * Equations.diffusion(direction);
    final double excess = viscous * Equations.VISCOSITY / 3.0;
    final double slow = viscous * (Equations.VISCOSITY - Equations.CONDUCTION);
    final double[] vn = s.velocity[direction];
    final double[] volume = s.volume;
    final double[] kinetic = s.kinetic;
    final double[] total = s.total;
    final double[] toDensity = entry(4, 0);
    final double[] toNormal = entry(4, direction + 1);
    final double[] toSelf = entry(4, 4);
    for (int l = Lanes.FROM; l < volume.length; ++l) {
      final double n = vn[l];
      final double w = volume[l];
      final double half = kinetic[l];
      final double all = total[l];
      final double dissipated = warm * all + 2.0 * slow * half + excess * n * n;
      final double flow = 2.0 * Equations.K2 * half - Equations.K1 * all;
      toDensity[l] = convective * n * flow + w * dissipated;
      toNormal[l] =
          convective * (Equations.K1 * all - Equations.K2 * half - Equations.K2 * n * n)
              - (slow + excess) * w * n;
      toSelf[l] = convective * Equations.K1 * n - warm * w - spread;
    }
  }

  /** 1 + 2 viscous * (dN/du + diffusion), of the point itself. */
  void setCentre(int direction, States s, double viscous) {
    final double diagonal = 1.0 + 2.0 * viscous * Equations.diffusion(direction);
    for (double[] one : entries) {
      Arrays.fill(one, 0);
    }
    Arrays.fill(entry(0, 0), diagonal);
    for (int m = 1; m < 4; ++m) {
      final double mu = 2.0 * viscous * Equations.viscosity(direction, m);
      setCentreRow(m, s, mu, mu - 2.0 * viscous * Equations.CONDUCTION, diagonal);
    }
    final double warm = 2.0 * viscous * Equations.CONDUCTION;
    final double slow = 2.0 * viscous * (Equations.VISCOSITY - Equations.CONDUCTION);
    final double excess = 2.0 * viscous * Equations.VISCOSITY / 3.0;
    final double[] vn = s.velocity[direction];
    final double[] toDensity = entry(4, 0);
    final double[] toSelf = entry(4, 4);
    final double[] volume = s.volume;
    final double[] kinetic = s.kinetic;
    final double[] total = s.total;
    for (int l = Lanes.FROM; l < volume.length; ++l) {
      final double n = vn[l];
      final double w = volume[l];
      toDensity[l] = -w * (warm * total[l] + 2.0 * slow * kinetic[l] + excess * n * n);
      toSelf[l] = diagonal + warm * w;
    }
  }

  private void setCentreRow(int m, States s, double mu, double heat, double diagonal) {
    final double[] vm = s.velocity[m - 1];
    final double[] volume = s.volume;
    final double[] toDensity = entry(m, 0);
    final double[] toSelf = entry(m, m);
    final double[] energy = entry(4, m);
    for (int l = Lanes.FROM; l < volume.length; ++l) {
      final double moved = volume[l] * vm[l];
      toDensity[l] = -mu * moved;
      toSelf[l] = diagonal + mu * volume[l];
      energy[l] = heat * moved;
    }
  }
}
