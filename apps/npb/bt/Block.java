package npb.bt;

import npb.flow.Equations;
import npb.flow.State;
import npb.flow.Tile;

/**
 * BT: 5 x 5 blocks at one point of a tile of lines, as five columns of five numbers. They are
 * derivatives of fluxes by the quantities, of which momentum along the direction comes first.
 * Entries that are zero for all states stay as they were made.
 */
final class Block {
  static final int SIZE = 5;
  /** Where the rows of a column are. */
  static final int R1 = Tile.APART;
  static final int R2 = 2 * Tile.APART;
  static final int R3 = 3 * Tile.APART;
  static final int R4 = 4 * Tile.APART;

  private Block() {}

  static double[][] make() {
    return Tile.of(SIZE, SIZE, 0);
  }

  /** convective * dF/du - viscous * (dN/du + diffusion), of a neighbour. */
  static void setNeighbour(
      double[][] block, double[] state, double convective, double viscous, double spread, int end) {
    setMomenta(block, state, convective, viscous, spread, end);
    setEnergy(block, state, convective, viscous, spread, end);
  }

  private static void setMomenta(
      double[][] block, double[] state, double convective, double viscous, double spread, int end) {
    final double mu = viscous * Equations.VISCOSITY;
    final double more = mu * Equations.FOUR_THIRDS;
    final double pushed = convective * Equations.K2;
    final double[] c0 = block[0];
    final double[] c1 = block[1];
    final double[] c2 = block[2];
    final double[] c3 = block[3];
    final double[] c4 = block[4];
    for (int l = Tile.FROM; l < end; ++l) {
      final double n = state[State.SPEED + l];
      final double s = state[State.SECOND + l];
      final double t = state[State.THIRD + l];
      final double w = state[State.VOLUME + l];
      final double carried = convective * n;
      final double thin = mu * w;
      final double thick = more * w;
      final double own = carried - thin - spread;
      c0[l] = -spread;
      c1[l] = convective;
      c0[R1 + l] = (thick - carried) * n + pushed * state[State.KINETIC + l];
      c1[R1 + l] = (2.0 - Equations.K2) * carried - thick - spread;
      c2[R1 + l] = -pushed * s;
      c3[R1 + l] = -pushed * t;
      c4[R1 + l] = pushed;
      c0[R2 + l] = (thin - carried) * s;
      c1[R2 + l] = convective * s;
      c2[R2 + l] = own;
      c0[R3 + l] = (thin - carried) * t;
      c1[R3 + l] = convective * t;
      c3[R3 + l] = own;
    }
  }

  private static void setEnergy(
      double[][] block, double[] state, double convective, double viscous, double spread, int end) {
    final double warm = viscous * Equations.CONDUCTION;
    final double slow = viscous * (Equations.VISCOSITY - Equations.CONDUCTION);
    final double excess = viscous * Equations.VISCOSITY / 3.0;
    final double[] c0 = block[0];
    final double[] c1 = block[1];
    final double[] c2 = block[2];
    final double[] c3 = block[3];
    final double[] c4 = block[4];
    for (int l = Tile.FROM; l < end; ++l) {
      final double n = state[State.SPEED + l];
      final double w = state[State.VOLUME + l];
      final double half = state[State.KINETIC + l];
      final double all = state[State.TOTAL + l];
      final double carried = convective * n;
      final double across = -Equations.K2 * carried - slow * w;
      final double dissipated = warm * all + 2.0 * slow * half + excess * n * n;
      final double flow = 2.0 * Equations.K2 * half - Equations.K1 * all;
      final double enthalpy = Equations.K1 * all - Equations.K2 * (half + n * n);
      c0[R4 + l] = carried * flow + w * dissipated;
      c1[R4 + l] = convective * enthalpy - (slow + excess) * w * n;
      c2[R4 + l] = across * state[State.SECOND + l];
      c3[R4 + l] = across * state[State.THIRD + l];
      c4[R4 + l] = Equations.K1 * carried - warm * w - spread;
    }
  }

  /** 1 + 2 viscous * (dN/du + diffusion), of the point itself. */
  static void setCentre(double[][] block, double[] state, double viscous, double spread, int end) {
    final double diagonal = 1.0 + 2.0 * spread;
    final double mu = 2.0 * viscous * Equations.VISCOSITY;
    final double more = mu * Equations.FOUR_THIRDS;
    final double warm = 2.0 * viscous * Equations.CONDUCTION;
    final double slow = mu - warm;
    final double excess = mu / 3.0;
    final double[] c0 = block[0];
    final double[] c1 = block[1];
    final double[] c2 = block[2];
    final double[] c3 = block[3];
    final double[] c4 = block[4];
    for (int l = Tile.FROM; l < end; ++l) {
      final double w = state[State.VOLUME + l];
      final double n = state[State.SPEED + l];
      final double half = state[State.KINETIC + l];
      final double s = w * state[State.SECOND + l];
      final double t = w * state[State.THIRD + l];
      c0[l] = diagonal;
      c0[R1 + l] = -more * w * n;
      c1[R1 + l] = diagonal + more * w;
      c0[R2 + l] = -mu * s;
      c2[R2 + l] = diagonal + mu * w;
      c0[R3 + l] = -mu * t;
      c3[R3 + l] = diagonal + mu * w;
      c0[R4 + l] = -w * (warm * state[State.TOTAL + l] + 2.0 * slow * half + excess * n * n);
      c1[R4 + l] = (slow + excess) * w * n;
      c2[R4 + l] = slow * s;
      c3[R4 + l] = slow * t;
      c4[R4 + l] = diagonal + warm * w;
    }
  }
}
