package npb.ft;

import npb.Lanes;

/**
 * FT: lines that lie side by side, element by element: an array of real parts and one of imaginary
 * parts for each element, and in all of them the same index for a line, from {@link Lanes#FIRST}
 * on. As many lines go together as stay in the nearest cache.
 */
final class Lines {
  /** How many lines there are. */
  static final int COUNT = 64;

  final double[][] real;
  final double[][] imaginary;

  private Lines(double[][] real, double[][] imaginary) {
    this.real = real;
    this.imaginary = imaginary;
  }

  Lines(int length) {
    this(new double[length][Lanes.length(COUNT)], new double[length][Lanes.length(COUNT)]);
  }

  /** Of so many elements, whose arrays are those of others. */
  static Lines without(int length) {
    return new Lines(new double[length][], new double[length][]);
  }

  /** The same numbers with their parts exchanged, whose forward transform is the inverse one. */
  Lines exchanged() {
    return new Lines(imaginary, real);
  }
}
