package npb.sp;

import static npb.Fused.add;

import npb.flow.Equations;
import npb.flow.FourthDifference;
import npb.flow.Method;
import npb.flow.State;
import npb.flow.Tile;

/**
 * SP: pentadiagonal systems along lines, one for each eigenvalue, by elimination. Three quantities
 * are carried along with the flow, one by each of both sound waves.
 */
final class Numerics implements Method {
  /** Places in a right-hand side. */
  private static final int R1 = Tile.APART;
  private static final int R2 = 2 * Tile.APART;
  private static final int R3 = 3 * Tile.APART;
  private static final int R4 = 4 * Tile.APART;
  /** Places of what elimination leaves, x = r - next x(+1) - after x(+2), of each system. */
  private static final int NEXT = 0;
  private static final int NEXT_WITH = Tile.APART;
  private static final int NEXT_AGAINST = 2 * Tile.APART;
  private static final int AFTER = 3 * Tile.APART;
  private static final int AFTER_WITH = 4 * Tile.APART;
  private static final int AFTER_AGAINST = 5 * Tile.APART;

  private final int n;
  private final double convective;
  private final double viscous;
  private final double[][] smooth;
  private final double[][] states = Tile.of(3, Eigenvectors.NUMBERS, 1);
  /** By point plus one: two points before the first, of which nothing comes. */
  private final double[][] eliminated;

  Numerics(int n, double dt) {
    this.n = n;
    convective = dt * 0.5 * (n - 1);
    viscous = dt * (n - 1.0) * (n - 1.0);
    smooth = new FourthDifference(n).factors;
    for (double[] factors : smooth) {
      for (int i = 0; i < n; ++i) {
        factors[i] *= dt;
      }
    }
    eliminated = Tile.of(n + 1, AFTER_AGAINST / Tile.APART + 1, 0);
  }

  @Override
  public boolean turnsRight() {
    return false;
  }

  @Override
  public void solve(int direction, double[][] u, double[][] r, int end) {
    setState(u, 0, end);
    setState(u, 1, end);
    for (int p = 1; p < n - 1; ++p) {
      if (direction == 0) {
        Eigenvectors.intoX(states[p % 3], r[p], end);
      }
      setState(u, p + 1, end);
      eliminate(direction, p, r, end);
    }
    for (int p = n - 2; p > 0; --p) {
      substitute(eliminated[p + 1], r[p + 1], r[Math.min(p + 2, n - 1)], r[p], end);
    }
    for (int p = 1; p < n - 1; ++p) {
      finish(direction, p, u, r, end);
    }
  }

  private void setState(double[][] u, int p, int end) {
    State.set(u[p], states[p % 3], Tile.FROM, end);
    Eigenvectors.soundSpeed(states[p % 3], end);
  }

  /** Eliminates both entries before the diagonal of a row of each system. */
  private void eliminate(int direction, int p, double[][] r, int end) {
    final double spread = viscous * Equations.diffusion(direction);
    final double warm = viscous * Equations.CONDUCTION;
    final double carried = convective;
    final double s0 = smooth[0][p];
    final double s1 = smooth[1][p] - spread;
    final double s2 = smooth[2][p] + 1.0 + 2.0 * spread;
    final double s3 = smooth[3][p] - spread;
    final double s4 = smooth[4][p];
    final double[] a = states[(p + 2) % 3];
    final double[] b = states[p % 3];
    final double[] c = states[(p + 1) % 3];
    final double[] e0 = eliminated[p - 1];
    final double[] e1 = eliminated[p];
    final double[] e2 = eliminated[p + 1];
    final double[] r0 = r[Math.max(p - 2, 0)];
    final double[] r1 = r[p - 1];
    final double[] r2 = r[p];
    for (int l = Tile.FROM; l < end; ++l) {
      final double low = add(-carried, a[l], add(-warm, a[State.VOLUME + l], s1));
      final double centre = add(2.0 * warm, b[State.VOLUME + l], s2);
      final double high = add(carried, c[l], add(-warm, c[State.VOLUME + l], s3));
      final double before = carried * a[Eigenvectors.SOUND + l];
      final double behind = carried * c[Eigenvectors.SOUND + l];

      final double under = add(-s0, e0[NEXT + l], low);
      final double own = add(-s0, e0[AFTER + l], centre);
      final double one = 1.0 / add(-under, e1[NEXT + l], own);
      e2[NEXT + l] = add(-under, e1[AFTER + l], high) * one;
      e2[AFTER + l] = s4 * one;
      r2[l] = add(-under, r1[l], add(-s0, r0[l], r2[l])) * one;
      r2[R1 + l] = add(-under, r1[R1 + l], add(-s0, r0[R1 + l], r2[R1 + l])) * one;
      r2[R2 + l] = add(-under, r1[R2 + l], add(-s0, r0[R2 + l], r2[R2 + l])) * one;

      final double underWith = add(-s0, e0[NEXT_WITH + l], low - before);
      final double ownWith = add(-s0, e0[AFTER_WITH + l], centre);
      final double oneWith = 1.0 / add(-underWith, e1[NEXT_WITH + l], ownWith);
      e2[NEXT_WITH + l] = add(-underWith, e1[AFTER_WITH + l], high + behind) * oneWith;
      e2[AFTER_WITH + l] = s4 * oneWith;
      r2[R3 + l] = add(-underWith, r1[R3 + l], add(-s0, r0[R3 + l], r2[R3 + l])) * oneWith;

      final double underAgainst = add(-s0, e0[NEXT_AGAINST + l], low + before);
      final double ownAgainst = add(-s0, e0[AFTER_AGAINST + l], centre);
      final double oneAgainst = 1.0 / add(-underAgainst, e1[NEXT_AGAINST + l], ownAgainst);
      e2[NEXT_AGAINST + l] =
          add(-underAgainst, e1[AFTER_AGAINST + l], high - behind) * oneAgainst;
      e2[AFTER_AGAINST + l] = s4 * oneAgainst;
      r2[R4 + l] = add(-underAgainst, r1[R4 + l], add(-s0, r0[R4 + l], r2[R4 + l])) * oneAgainst;
    }
  }

  /** x = r - next x(+1) - after x(+2), in place. */
  private static void substitute(double[] e, double[] x1, double[] x2, double[] r, int end) {
    for (int l = Tile.FROM; l < end; ++l) {
      final double next = -e[NEXT + l];
      final double after = -e[AFTER + l];
      r[l] = add(next, x1[l], add(after, x2[l], r[l]));
      r[R1 + l] = add(next, x1[R1 + l], add(after, x2[R1 + l], r[R1 + l]));
      r[R2 + l] = add(next, x1[R2 + l], add(after, x2[R2 + l], r[R2 + l]));
      r[R3 + l] =
          add(-e[NEXT_WITH + l], x1[R3 + l], add(-e[AFTER_WITH + l], x2[R3 + l], r[R3 + l]));
      r[R4 + l] =
          add(-e[NEXT_AGAINST + l], x1[R4 + l], add(-e[AFTER_AGAINST + l], x2[R4 + l], r[R4 + l]));
    }
  }

  /** What the solution becomes for the next direction, or the change of the quantities. */
  private void finish(int direction, int p, double[][] u, double[][] r, int end) {
    if (direction == 0) {
      Eigenvectors.fromXIntoY(r[p], end);
    } else if (direction == 1) {
      Eigenvectors.fromYIntoZ(r[p], end);
    } else {
      setState(u, p, end);
      Eigenvectors.addFromZ(states[p % 3], r[p], u[p], end);
    }
  }
}
