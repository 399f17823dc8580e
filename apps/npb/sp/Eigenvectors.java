package npb.sp;

import npb.flow.Equations;
import npb.flow.State;
import npb.flow.Tile;

/**
 * SP: the eigenvectors T of the fluxes' derivatives decouple the five quantities; between two
 * directions only products of two of them are needed (RNR-94-007, section 3.5). All of it is done
 * at one point of a tile of lines, of which {@code r} is the right-hand side.
 */
final class Eigenvectors {
  /** Behind the numbers of a state. */
  static final int SOUND = State.NUMBERS * Tile.APART;
  static final int NUMBERS = State.NUMBERS + 1;

  private static final double ROOT_HALF = 0.70710678118654752440;
  private static final int R1 = Tile.APART;
  private static final int R2 = 2 * Tile.APART;
  private static final int R3 = 3 * Tile.APART;
  private static final int R4 = 4 * Tile.APART;

  private Eigenvectors() {}

  static void soundSpeed(double[] s, int end) {
    for (int l = Tile.FROM; l < end; ++l) {
      final double inner = s[State.TOTAL + l] - s[State.KINETIC + l];
      s[SOUND + l] = Math.sqrt(Equations.K1 * Equations.K2 * inner);
    }
  }

  /** r becomes T_x^-1 r. */
  static void intoX(double[] s, double[] r, int end) {
    for (int l = Tile.FROM; l < end; ++l) {
      final double a = r[l];
      final double b = r[R1 + l];
      final double c = r[R2 + l];
      final double d = r[R3 + l];
      final double x = s[State.SPEED + l];
      final double y = s[State.SECOND + l];
      final double z = s[State.THIRD + l];
      final double v = s[State.VOLUME + l];
      final double fast = s[SOUND + l];
      final double work = s[State.KINETIC + l] * a - x * b - y * c - z * d + r[R4 + l];
      final double pressure = Equations.K2 * work / (fast * fast);
      final double moved = ROOT_HALF * v * (x * a - b);
      final double pushed = ROOT_HALF * v * fast * pressure;
      r[l] = a - pressure;
      r[R1 + l] = v * (d - z * a);
      r[R2 + l] = v * (y * a - c);
      r[R3 + l] = pushed - moved;
      r[R4 + l] = pushed + moved;
    }
  }

  /** r becomes T_y^-1 T_x r. */
  static void fromXIntoY(double[] r, int end) {
    for (int l = Tile.FROM; l < end; ++l) {
      final double a = r[l];
      final double b = r[R1 + l];
      final double along = ROOT_HALF * r[R2 + l];
      final double d = r[R3 + l];
      final double e = r[R4 + l];
      final double sum = 0.5 * (d + e);
      r[l] = -b;
      r[R1 + l] = a;
      r[R2 + l] = ROOT_HALF * (d - e);
      r[R3 + l] = sum - along;
      r[R4 + l] = sum + along;
    }
  }

  /** r becomes T_z^-1 T_y r. */
  static void fromYIntoZ(double[] r, int end) {
    for (int l = Tile.FROM; l < end; ++l) {
      final double along = ROOT_HALF * r[l];
      final double b = r[R1 + l];
      final double c = r[R2 + l];
      final double d = r[R3 + l];
      final double e = r[R4 + l];
      final double sum = 0.5 * (d + e);
      r[l] = ROOT_HALF * (d - e);
      r[R1 + l] = -c;
      r[R2 + l] = b;
      r[R3 + l] = sum - along;
      r[R4 + l] = sum + along;
    }
  }

  /** Adds T_z r to the quantities u of the point, in which momentum along z comes first. */
  static void addFromZ(double[] s, double[] r, double[] u, int end) {
    for (int l = Tile.FROM; l < end; ++l) {
      final double density = u[l];
      final double fast = s[SOUND + l];
      final double d = r[R3 + l];
      final double e = r[R4 + l];
      final double x = s[State.SECOND + l];
      final double y = s[State.THIRD + l];
      final double z = s[State.SPEED + l];
      final double scale = ROOT_HALF * density;
      final double pressure = scale / fast * (d + e);
      final double along = scale * (d - e);
      final double mass = r[R2 + l] + pressure;
      final double acrossX = -density * r[R1 + l];
      final double acrossY = density * r[l];
      final double heat = s[State.KINETIC + l] * mass + fast * fast * pressure / Equations.K2;
      u[l] = density + mass;
      u[R2 + l] += acrossX + x * mass;
      u[R3 + l] += acrossY + y * mass;
      u[R1 + l] += along + z * mass;
      u[R4 + l] += x * acrossX + y * acrossY + z * along + heat;
    }
  }
}
