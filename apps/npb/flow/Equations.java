package npb.flow;

/**
 * The constants of the discretised equations (RNR-94-007, section 3.4) and their exact solution.
 * Quantities are density, momentum in x, y and z, and energy.
 */
public final class Equations {
  /** Ratio of specific heats, k1 of the specification. */
  public static final double K1 = 1.4;
  public static final double K2 = 0.4;
  public static final double VISCOSITY = 0.1;
  public static final double CONDUCTION = K1 * 1.4 * VISCOSITY;
  public static final double FOUR_THIRDS = 4.0 / 3.0;
  static final double DISSIPATION = 0.25;
  static final int QUANTITIES = 5;

  private static final double[] DIFFUSION = {0.75, 0.75, 1.0};

  /** A polynomial of degree four in each coordinate (table 3.1): constant, then x, y, z, x^2. */
  private static final double[][] EXACT = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2}
  };

  private Equations() {}

  /** Of the second differences along a direction. */
  public static double diffusion(int direction) {
    return DIFFUSION[direction];
  }

  /** Viscosity that acts on momentum m (1 to 3) along a direction (0 to 2). */
  public static double viscosity(int direction, int m) {
    return m == direction + 1 ? FOUR_THIRDS * VISCOSITY : VISCOSITY;
  }

  static double exact(int m, double x, double y, double z) {
    final double[] c = EXACT[m];
    return c[0] + power(c, 1, x) + power(c, 2, y) + power(c, 3, z);
  }

  private static double power(double[] c, int at, double x) {
    return x * (c[at] + x * (c[at + 3] + x * (c[at + 6] + x * c[at + 9])));
  }
}
