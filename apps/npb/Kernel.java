package npb;

import java.util.List;

/** A kernel made ready for one class and a team of threads. */
public interface Kernel {
  /** Sets up the problem anew and runs what the specification leaves out of the time. */
  void prepare();

  /** Some of the timed work, until it is compiled; {@link #prepare} follows before the next run. */
  void warmUp();

  /** Runs the part that the specification times: neither allocation nor output. */
  void run();

  /** What the last run computed, beside the official values. */
  List<Check> checks();
}
