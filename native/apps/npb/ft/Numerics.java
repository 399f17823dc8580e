// SPDX-License-Identifier: Apache-2.0
package npb.ft;

import npb.Random;

/**
 * FT: what a thread computes on planes of x and y, and on lines along z. Lines along y and z are
 * transformed where they are; those along x are turned into columns first.
 */
final class Numerics {
  /** Lines that are transformed together: what they need stays in the cache. */
  private static final int TOGETHER = 64;

  private final Problem problem;
  private final Fft x;
  private final Fft y;
  private final Fft z;
  private final Lines columns;
  private final Lines columnsRoom;
  private final Lines lines;
  private final Lines rowsRoom;
  private final double[] pairs;

  Numerics(Problem problem, Fft x, Fft y, Fft z) {
    this.problem = problem;
    this.x = new Fft(x);
    this.y = new Fft(y);
    this.z = new Fft(z);
    columns = new Lines(problem.nx(), TOGETHER);
    columnsRoom = new Lines(problem.nx(), TOGETHER);
    lines = new Lines(Math.max(problem.ny(), problem.nz()));
    rowsRoom = new Lines(lines.real.length, problem.nx());
    pairs = new double[2 * problem.nx()];
  }

  /** The random numbers that a plane begins with. */
  void fillPlane(int plane, Lines field) {
    final int nx = problem.nx();
    final Random random = new Random();
    random.skip(2L * nx * problem.ny() * plane);
    for (int row = plane * problem.ny(); row < (plane + 1) * problem.ny(); ++row) {
      random.fill(pairs, 0, 2 * nx);
      for (int i = 0; i < nx; ++i) {
        field.real[row][i] = pairs[2 * i];
        field.imaginary[row][i] = pairs[2 * i + 1];
      }
    }
  }

  /** Transforms a plane along x, then along y: it stays in the cache meanwhile. */
  void transformPlane(int plane, Lines field) {
    final int first = plane * problem.ny();
    for (int row = 0; row < problem.ny(); row += TOGETHER) {
      turn(field.real, first + row, columns.real);
      turn(field.imaginary, first + row, columns.imaginary);
      final Lines done = x.transform(columns, columnsRoom, 0, TOGETHER);
      turnBack(done.real, field.real, first + row);
      turnBack(done.imaginary, field.imaginary, first + row);
    }
    transformRows(y, problem.ny(), first, 1, field);
  }

  /** Transforms lines along z that begin in a row of the first plane. */
  void transformAcross(int row, Lines field) {
    transformRows(z, problem.nz(), row, problem.ny(), field);
  }

  /** Lets what is in a row of all planes decay. */
  void evolve(int row, Decay decay, Lines from, Lines to) {
    for (int plane = 0; plane < problem.nz(); ++plane) {
      final int at = plane * problem.ny() + row;
      final double factor = decay.y[row] * decay.z[plane];
      scale(from.real[at], decay.x, factor, to.real[at]);
      scale(from.imaginary[at], decay.x, factor, to.imaginary[at]);
    }
  }

  /** The checksum of a field, real and imaginary part. */
  static double[] checksum(Problem problem, Lines field) {
    final double[] sum = new double[2];
    for (int j = 1; j <= 1024; ++j) {
      final int row = 5 * j % problem.nz() * problem.ny() + 3 * j % problem.ny();
      sum[0] += field.real[row][j % problem.nx()] / problem.points();
      sum[1] += field.imaginary[row][j % problem.nx()] / problem.points();
    }
    return sum;
  }

  /** Lines whose elements are the rows from {@code first} on that are {@code apart}. */
  private void transformRows(Fft fft, int length, int first, int apart, Lines field) {
    for (int i = 0; i < length; ++i) {
      lines.real[i] = field.real[first + i * apart];
      lines.imaginary[i] = field.imaginary[first + i * apart];
    }
    Lines done = lines;
    for (int from = 0; from < problem.nx(); from += TOGETHER) {
      done = fft.transform(lines, rowsRoom, from, from + TOGETHER);
    }
    if (done == lines) {
      return;
    }
    for (int i = 0; i < length; ++i) {
      // The rows change their places with those of the room: nothing is copied.
      field.real[first + i * apart] = rowsRoom.real[i];
      field.imaginary[first + i * apart] = rowsRoom.imaginary[i];
      rowsRoom.real[i] = lines.real[i];
      rowsRoom.imaginary[i] = lines.imaginary[i];
    }
  }

  private static void turn(double[][] rows, int first, double[][] columns) {
    for (int l = 0; l < TOGETHER; ++l) {
      final double[] row = rows[first + l];
      for (int i = 0; i < columns.length; ++i) {
        columns[i][l] = row[i];
      }
    }
  }

  private static void turnBack(double[][] columns, double[][] rows, int first) {
    for (int l = 0; l < TOGETHER; ++l) {
      final double[] row = rows[first + l];
      for (int i = 0; i < columns.length; ++i) {
        row[i] = columns[i][l];
      }
    }
  }

  private static void scale(double[] from, double[] factors, double factor, double[] to) {
    for (int i = 0; i < from.length; ++i) {
      to[i] = from[i] * (factors[i] * factor);
    }
  }
}
