package npb;

/**
 * The random numbers of the NAS Parallel Benchmarks (RNR-94-007, section 2.3): x becomes
 * a x mod 2^46 with a = 5^13, and a number is x / 2^46. In 64 bits the product loses only what the
 * modulus drops.
 */
public final class Random {
  /** Of CG, FT, IS and MG; EP has its own. */
  public static final long USUAL_SEED = 314159265;

  private static final long MULTIPLIER = 1220703125;
  private static final long MASK = (1L << 46) - 1;
  private static final double SCALE = 1.0 / (1L << 46);
  private static final long TWO = power(2);
  private static final long THREE = power(3);
  private static final long FOUR = power(4);

  private long state;

  public Random(long seed) {
    state = seed;
  }

  public Random() {
    this(USUAL_SEED);
  }

  public double next() {
    state = times(state, MULTIPLIER);
    return state * SCALE;
  }

  /** Goes on by {@code count} numbers in as many steps as the count has bits. */
  public void skip(long count) {
    state = times(state, power(count));
  }

  /** The next numbers, a multiple of four: four sequences whose products do not wait. */
  public void fill(double[] out, int from, int count) {
    long a = times(state, MULTIPLIER);
    long b = times(state, TWO);
    long c = times(state, THREE);
    long d = times(state, FOUR);
    for (int at = from; at < from + count; at += 4) {
      out[at] = a * SCALE;
      out[at + 1] = b * SCALE;
      out[at + 2] = c * SCALE;
      out[at + 3] = d * SCALE;
      a = times(a, FOUR);
      b = times(b, FOUR);
      c = times(c, FOUR);
      d = times(d, FOUR);
    }
    skip(count);
  }

  /** Numbers that follow each other in even steps, all at once: what HotSpot makes vectors of. */
  public static final class Block {
    /** The numbers, not yet scaled, from {@link Lanes#FIRST} on. */
    public final long[] states;

    private final long seed;
    private final long[] powers;
    private final long all;

    /** So many numbers, each so many steps after the one before. */
    public Block(long seed, int count, int step) {
      this.seed = seed;
      all = power((long) count * step);
      states = new long[Lanes.length(count)];
      powers = new long[states.length];
      for (int i = Lanes.FIRST; i < powers.length; ++i) {
        powers[i] = power((long) (i - Lanes.FIRST) * step + 1);
      }
    }

    /** The numbers that follow so many others from the seed on. */
    public void start(long before) {
      multiply(powers, times(seed, power(before)));
    }

    /** The next numbers. */
    public void next() {
      multiply(states, all);
    }

    private void multiply(long[] from, long factor) {
      for (int i = Lanes.FROM; i < from.length; ++i) {
        states[i] = from[i] * factor & MASK;
      }
    }
  }

  /** a^count mod 2^46. */
  private static long power(long count) {
    long result = 1;
    long base = MULTIPLIER;
    for (long rest = count; rest > 0; rest >>= 1) {
      if ((rest & 1) != 0) {
        result = times(result, base);
      }
      base = times(base, base);
    }
    return result;
  }

  private static long times(long a, long b) {
    return a * b & MASK;
  }
}
