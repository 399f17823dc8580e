package npb.flow;

/**
 * What derivatives of fluxes are made of, at one point of a tile of lines: a tile of numbers whose
 * places are the constants. The first velocity belongs to the first momentum of the quantities.
 */
public final class State {
  public static final int SPEED = 0;
  public static final int SECOND = Tile.APART;
  public static final int THIRD = 2 * Tile.APART;
  /** 1 / density. */
  public static final int VOLUME = 3 * Tile.APART;
  /** Energies per mass. */
  public static final int KINETIC = 4 * Tile.APART;
  public static final int TOTAL = 5 * Tile.APART;
  public static final int NUMBERS = 6;

  private State() {}

  /** Of the quantities of lanes [from, end). */
  public static void set(double[] u, double[] state, int from, int end) {
    for (int l = from; l < end; ++l) {
      final double inverse = 1.0 / u[l];
      final double x = u[Tile.APART + l] * inverse;
      final double y = u[2 * Tile.APART + l] * inverse;
      final double z = u[3 * Tile.APART + l] * inverse;
      state[SPEED + l] = x;
      state[SECOND + l] = y;
      state[THIRD + l] = z;
      state[VOLUME + l] = inverse;
      state[KINETIC + l] = 0.5 * (x * x + y * y + z * z);
      state[TOTAL + l] = u[4 * Tile.APART + l] * inverse;
    }
  }
}
