package npb;

/** A kernel that repeats one step: one of them goes before the timed ones, on the same problem. */
public abstract class SteppedKernel implements Kernel {
  /** How many steps are timed. */
  protected abstract int count();

  /** Sets up the problem anew. */
  protected abstract void start();

  /** Runs so many steps. */
  protected abstract void steps(int count);

  @Override
  public final void prepare() {
    start();
    steps(1);
    start();
  }

  @Override
  public final void warmUp() {
    steps(1);
  }

  @Override
  public final void run() {
    steps(count());
  }
}
