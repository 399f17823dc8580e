package npb.flow;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import npb.Check;
import npb.Classes;

/**
 * What a class of BT, SP or LU is, and whether a run of it is right: a cube of n^3 points, so many
 * steps of dt; norms after the last of them. The surface integral is LU's alone.
 */
public record Problem(
    char name, int n, int steps, double dt, double[] residual, double[] error, double surface) {
  public static final double TOLERANCE = 1e-8;
  private static final int FIRST_NORM = 3;
  private static final String[] QUANTITIES = {
    "density", "momentum x", "momentum y", "momentum z", "energy"
  };

  /** A class of the kernel that {@code member} belongs to. */
  public static Problem of(Class<?> member, char name) {
    final double[] numbers = Classes.of(member, name);
    final int errors = FIRST_NORM + QUANTITIES.length;
    final int surface = errors + QUANTITIES.length;
    return new Problem(
        name,
        (int) numbers[0],
        (int) numbers[1],
        numbers[2],
        Arrays.copyOfRange(numbers, FIRST_NORM, errors),
        Arrays.copyOfRange(numbers, errors, surface),
        surface < numbers.length ? numbers[surface] : 0);
  }

  public List<Check> checks(double[] foundResidual, double[] foundError) {
    final List<Check> checks = new ArrayList<>();
    for (int m = 0; m < QUANTITIES.length; ++m) {
      final String what = QUANTITIES[m];
      checks.add(new Check("residual of " + what, foundResidual[m], residual[m], TOLERANCE));
      checks.add(new Check("error of " + what, foundError[m], error[m], TOLERANCE));
    }
    return checks;
  }

  /** Operations as the reference counts them: a cubic polynomial in n, for each step. */
  public double operations(double cubic, double square, double linear, double constant) {
    return steps * (((cubic * n + square) * n + linear) * n + constant);
  }

  /** Bytes of so many numbers for each point, and the heads of rows. */
  public double memoryBytes(double numbers) {
    return numbers * (8.0 * n + 24) * n * n;
  }
}
