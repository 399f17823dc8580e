package npb.flow;

import java.util.Arrays;

/**
 * Numbers of lines of points that lie side by side, a lane for each: in one array one number of
 * all lanes after the other, at a constant distance. HotSpot makes vectors of a loop over lanes,
 * however many numbers it combines, since it sees that none of their places are the same. It
 * takes one step of a loop alone and goes on in vectors from a multiple of 64 bytes: loops go from
 * {@link #FROM} to {@link #end}, and what they do at {@code FROM} nobody reads.
 */
public final class Tile {
  /** How many lanes there are at most: a 5 x 5 block of them stays in the nearest cache. */
  public static final int LANES = 32;
  /** From a number to the next one, in doubles. */
  public static final int APART = 40;
  public static final int FROM = 5;
  /** The first lane. */
  public static final int FIRST = FROM + 1;

  private static final int VECTOR = 8;

  private Tile() {}

  /** Room for so many numbers of every lane. */
  public static double[] of(int numbers, double value) {
    final double[] tile = new double[numbers * APART];
    Arrays.fill(tile, value);
    return tile;
  }

  /** Room for so many numbers of every lane, so many times. */
  public static double[][] of(int count, int numbers, double value) {
    final double[][] tiles = new double[count][];
    for (int i = 0; i < count; ++i) {
      tiles[i] = of(numbers, value);
    }
    return tiles;
  }

  /** Where loops over so many lanes end: they are rounded up to whole vectors. */
  public static int end(int lanes) {
    return FIRST + (lanes + VECTOR - 1) / VECTOR * VECTOR;
  }
}
