// SPDX-License-Identifier: Apache-2.0
package npb.ft;

/**
 * FT: lines that lie side by side, element by element: an array of real parts and one of imaginary
 * parts for each element, and in all of them the same index for a line.
 */
final class Lines {
  final double[][] real;
  final double[][] imaginary;

  private Lines(double[][] real, double[][] imaginary) {
    this.real = real;
    this.imaginary = imaginary;
  }

  /** Of so many elements, whose arrays are not known yet. */
  Lines(int length) {
    this(new double[length][], new double[length][]);
  }

  Lines(int length, int count) {
    this(new double[length][count], new double[length][count]);
  }

  /** The same numbers with their parts exchanged, whose forward transform is the inverse one. */
  Lines exchanged() {
    return new Lines(imaginary, real);
  }
}
