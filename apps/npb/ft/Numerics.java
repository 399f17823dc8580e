package npb.ft;

import npb.Lanes;
import npb.Random;

/**
 * FT: what a thread computes on planes of x and y, and on lines along z. A row consists of several
 * arrays. Lines along y and z are transformed where they are; those along x are turned before that,
 * as many rows at once as an array has numbers, and stay so after the last transform: each array is
 * a column then.
 */
final class Numerics {
  private static final int COUNT = Lines.COUNT;
  private static final int FIRST = Lanes.FIRST;
  /** So many rows are turned together. */
  private static final int TURNED = 4;

  private final Problem problem;
  private final Fft x;
  private final Fft y;
  private final Fft z;
  private final Lines columns;
  private final Lines lines;
  private final Lines room;
  private final double[] pairs;
  /** Arrays of a row. */
  private final int parts;

  Numerics(Problem problem, Fft x, Fft y, Fft z) {
    this.problem = problem;
    this.x = new Fft(x);
    this.y = new Fft(y);
    this.z = new Fft(z);
    parts = problem.nx() / COUNT;
    final int longest = Math.max(problem.nx(), Math.max(problem.ny(), problem.nz()));
    columns = new Lines(problem.nx());
    lines = Lines.without(longest);
    room = new Lines(longest);
    pairs = new double[2 * problem.nx()];
  }

  /** The random numbers that a plane begins with, transformed along x and y. */
  void startPlane(int plane, Lines field) {
    final int nx = problem.nx();
    final Random random = new Random();
    random.skip(2L * nx * problem.ny() * plane);
    for (int row = plane * problem.ny(); row < (plane + 1) * problem.ny(); row += COUNT) {
      for (int l = FIRST; l < FIRST + COUNT; ++l) {
        random.fill(pairs, 0, 2 * nx);
        for (int i = 0; i < nx; ++i) {
          columns.real[i][l] = pairs[2 * i];
          columns.imaginary[i][l] = pairs[2 * i + 1];
        }
      }
      final Lines done = x.transform(columns, room);
      turnBack(done.real, field.real, row * parts);
      turnBack(done.imaginary, field.imaginary, row * parts);
    }
    transformAlongY(plane, field);
  }

  /** Transforms a plane along y, then along x: it stays in the cache meanwhile. */
  void transformPlane(int plane, Lines field) {
    transformAlongY(plane, field);
    for (int row = plane * problem.ny(); row < (plane + 1) * problem.ny(); row += COUNT) {
      turn(field.real, row * parts, columns.real);
      turn(field.imaginary, row * parts, columns.imaginary);
      final Lines done = x.transform(columns, room);
      for (int i = 0; i < problem.nx(); ++i) {
        exchange(done, i, field, row * parts + i);
      }
    }
  }

  /** Transforms lines along z that begin in a row of the first plane. */
  void transformAcross(int row, Lines field) {
    for (int part = 0; part < parts; ++part) {
      transformArrays(z, row * parts + part, problem.ny() * parts, field);
    }
  }

  /** Lets what is in a row of all planes decay. */
  void evolve(int row, Decay decay, Lines from, Lines to) {
    for (int plane = 0; plane < problem.nz(); ++plane) {
      final int at = (plane * problem.ny() + row) * parts;
      final double factor = decay.y[row] * decay.z[plane];
      for (int part = 0; part < parts; ++part) {
        scale(from.real[at + part], decay.parts[part], factor, to.real[at + part]);
        scale(from.imaginary[at + part], decay.parts[part], factor, to.imaginary[at + part]);
      }
    }
  }

  /** The checksum of a field whose planes were transformed last, real and imaginary part. */
  static double[] checksum(Problem problem, Lines field) {
    final double[] sum = new double[2];
    for (int j = 1; j <= 1024; ++j) {
      final int y = 3 * j % problem.ny();
      final int column = 5 * j % problem.nz() * problem.ny() / COUNT + y / COUNT;
      final int at = column * problem.nx() + j % problem.nx();
      sum[0] += field.real[at][FIRST + y % COUNT] / problem.points();
      sum[1] += field.imaginary[at][FIRST + y % COUNT] / problem.points();
    }
    return sum;
  }

  private void transformAlongY(int plane, Lines field) {
    for (int part = 0; part < parts; ++part) {
      transformArrays(y, plane * problem.ny() * parts + part, parts, field);
    }
  }

  /** Lines whose elements are the arrays from {@code first} on that are {@code apart}. */
  private void transformArrays(Fft fft, int first, int apart, Lines field) {
    for (int i = 0; i < fft.length(); ++i) {
      lines.real[i] = field.real[first + i * apart];
      lines.imaginary[i] = field.imaginary[first + i * apart];
    }
    if (fft.transform(lines, room) == room) {
      for (int i = 0; i < fft.length(); ++i) {
        exchange(room, i, field, first + i * apart);
      }
    }
  }

  /** Arrays change their places: nothing is copied. */
  private static void exchange(Lines one, int i, Lines other, int j) {
    final double[] real = one.real[i];
    final double[] imaginary = one.imaginary[i];
    one.real[i] = other.real[j];
    one.imaginary[i] = other.imaginary[j];
    other.real[j] = real;
    other.imaginary[j] = imaginary;
  }

  private void turn(double[][] field, int first, double[][] columns) {
    for (int part = 0; part < parts; ++part) {
      for (int l = 0; l < COUNT; l += TURNED) {
        final double[] a = field[first + l * parts + part];
        final double[] b = field[first + (l + 1) * parts + part];
        final double[] c = field[first + (l + 2) * parts + part];
        final double[] d = field[first + (l + 3) * parts + part];
        for (int i = 0; i < COUNT; ++i) {
          final double[] column = columns[part * COUNT + i];
          column[FIRST + l] = a[FIRST + i];
          column[FIRST + l + 1] = b[FIRST + i];
          column[FIRST + l + 2] = c[FIRST + i];
          column[FIRST + l + 3] = d[FIRST + i];
        }
      }
    }
  }

  private void turnBack(double[][] columns, double[][] field, int first) {
    for (int l = 0; l < COUNT; ++l) {
      for (int i = 0; i < problem.nx(); ++i) {
        field[first + l * parts + i / COUNT][FIRST + i % COUNT] = columns[i][FIRST + l];
      }
    }
  }

  private static void scale(double[] from, double[] factors, double factor, double[] to) {
    for (int l = Lanes.FROM; l < from.length; ++l) {
      to[l] = from[l] * (factors[l] * factor);
    }
  }
}
