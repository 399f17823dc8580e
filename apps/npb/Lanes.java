package npb;

import java.util.Arrays;

/**
 * The places of an array that loops compute on. HotSpot takes one step of a loop alone, goes on in
 * vectors from a multiple of 64 bytes, and takes what is left alone again. Loops therefore go from
 * {@link #FROM} to the end of the array: behind the head of an array the next place is such a
 * multiple, and lanes are rounded up to whole vectors, so that next to nothing is done alone.
 */
public final class Lanes {
  /** Where loops begin: a place of its own, whose values nobody reads. */
  public static final int FROM = 5;
  /** The first lane. */
  public static final int FIRST = FROM + 1;

  private static final int VECTOR = 8;

  private Lanes() {}

  /** Where loops begin that need nothing of the lanes before this one. */
  public static int from(int lane) {
    return FROM + lane / VECTOR * VECTOR;
  }

  /** The length of an array for so many lanes, and where loops over them end. */
  public static int length(int count) {
    return FIRST + (count + VECTOR - 1) / VECTOR * VECTOR;
  }

  public static double[] of(int count, double value) {
    final double[] lanes = new double[length(count)];
    Arrays.fill(lanes, value);
    return lanes;
  }
}
