package npb.bt;

import npb.flow.Equations;
import npb.flow.Method;
import npb.flow.State;
import npb.flow.Tile;

/** BT: block-tridiagonal systems along lines, by block Gaussian elimination. */
final class Numerics implements Method {
  private static final int SIZE = Block.SIZE;

  private final int n;
  private final double convective;
  private final double viscous;
  private final double[][] states = Tile.of(3, State.NUMBERS, 0);
  private final double[][] before = Block.make();
  private final double[][] centre = Block.make();
  private final double[][] after = Block.make();
  /** The centre without what the point before says, then its factors. */
  private final double[][] own = Block.make();
  /** By point: after elimination, x = r - c x(next). The first is 0. */
  private final double[][][] c;

  Numerics(int n, double dt) {
    this.n = n;
    convective = dt * 0.5 * (n - 1);
    viscous = dt * (n - 1.0) * (n - 1.0);
    c = new double[n][][];
    for (int p = 0; p < n; ++p) {
      c[p] = Block.make();
    }
  }

  @Override
  public boolean turnsRight() {
    return true;
  }

  @Override
  public void solve(int direction, double[][] u, double[][] r, int end) {
    final double spread = viscous * Equations.diffusion(direction);
    State.set(u[0], states[0], Tile.FROM, end);
    State.set(u[1], states[1], Tile.FROM, end);
    for (int p = 1; p < n - 1; ++p) {
      final double[] next = states[(p + 1) % 3];
      State.set(u[p + 1], next, Tile.FROM, end);
      Block.setNeighbour(before, states[(p - 1) % 3], -convective, viscous, spread, end);
      Block.setCentre(centre, states[p % 3], viscous, spread, end);
      Block.setNeighbour(after, next, convective, viscous, spread, end);
      eliminate(p, r, end);
    }
    for (int p = n - 3; p > 0; --p) {
      Elimination.subtract(c[p], r[p + 1], r[p], end);
    }
    if (direction == 2) {
      for (int p = 1; p < n - 1; ++p) {
        add(u[p], r[p]);
      }
    }
  }

  /** Subtracts what the point before says, and solves for the block after and the right side. */
  private void eliminate(int p, double[][] r, int end) {
    for (int column = 0; column < SIZE; ++column) {
      Elimination.subtractNeighbour(before, c[p - 1][column], centre[column], own[column], end);
    }
    if (p > 1) {
      Elimination.subtractNeighbour(before, r[p - 1], r[p], r[p], end);
    }
    Elimination.factor(own, end);
    for (int column = 0; column < SIZE; ++column) {
      Elimination.solve(own, after[column], c[p][column], end);
    }
    Elimination.solve(own, r[p], r[p], end);
  }

  private static void add(double[] u, double[] change) {
    for (int i = 0; i < u.length; ++i) {
      u[i] += change[i];
    }
  }
}
