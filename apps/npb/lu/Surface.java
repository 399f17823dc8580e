package npb.lu;

import npb.flow.Equations;
import npb.flow.Field;

/** LU: the integral of the pressure over the surface of a box within the cube. */
final class Surface {
  private final Field u;
  /** The ends of the box in x, y and z, both included. */
  private final int[] low = {1, 1, 2};
  private final int[] high;

  Surface(Field u) {
    this.u = u;
    high = new int[] {u.n - 2, u.n - 3, u.n - 2};
  }

  double integral() {
    final double h = 1.0 / (u.n - 1);
    double sum = 0;
    for (int direction = 0; direction < 3; ++direction) {
      sum += faces(direction);
    }
    return 0.25 * h * h * sum;
  }

  /**
   * Both faces across a direction, by the trapezoidal rule: a point within a face counts four
   * times, on its edges twice, at its corners once.
   */
  private double faces(int direction) {
    final int a = direction == 0 ? 1 : 0;
    final int b = direction == 2 ? 1 : 2;
    final int[] at = new int[3];
    double sum = 0;
    for (at[b] = low[b]; at[b] <= high[b]; ++at[b]) {
      for (at[a] = low[a]; at[a] <= high[a]; ++at[a]) {
        final double weight = weight(a, at[a]) * weight(b, at[b]);
        at[direction] = low[direction];
        sum += weight * pressure(at[0], at[1], at[2]);
        at[direction] = high[direction];
        sum += weight * pressure(at[0], at[1], at[2]);
      }
    }
    return sum;
  }

  private double weight(int direction, int at) {
    return at == low[direction] || at == high[direction] ? 1 : 2;
  }

  private double pressure(int i, int j, int k) {
    double work = 0;
    for (int m = 1; m < 4; ++m) {
      work += u.rows[k][j][m][Field.X + i] * u.rows[k][j][m][Field.X + i];
    }
    final double energy = u.rows[k][j][4][Field.X + i];
    return Equations.K2 * (energy - 0.5 * work / u.rows[k][j][0][Field.X + i]);
  }
}
