package npb;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Threads that run the same work, the caller as number 0, and wait for each other in it. */
public final class Team {
  /** What every thread does. */
  public interface Work {
    void run(int thread);
  }

  private static final int SPINS = 2000;
  /** Numbers of a sum, and the doubles of a cache line and its neighbour. */
  private static final int PLACE = 16;
  private static final int TURN = 8;

  private final int threads;
  private final int spins;
  private final Thread[] members;
  private final AtomicInteger arrived = new AtomicInteger();
  private final double[] places;
  private final int[] turns;
  private volatile int round;
  private volatile int begun;
  private volatile Work work;

  public Team(int threads) {
    this.threads = threads;
    spins = threads <= Runtime.getRuntime().availableProcessors() ? SPINS : 0;
    places = new double[PLACE * threads];
    turns = new int[PLACE * threads];
    members = new Thread[threads];
    for (int number = 1; number < threads; ++number) {
      final int thread = number;
      members[thread] = new Thread(() -> serve(thread), "npb-" + thread);
      members[thread].setDaemon(true);
      members[thread].start();
    }
  }

  public int threads() {
    return threads;
  }

  /** Runs the work on all threads; they have all ended when it returns. */
  public void run(Work given) {
    work = given;
    ++begun;
    for (int thread = 1; thread < threads; ++thread) {
      LockSupport.unpark(members[thread]);
    }
    given.run(0);
    barrier();
  }

  /** Every thread of the team calls it, and goes on when all have. */
  public void barrier() {
    if (threads == 1) {
      return;
    }
    final int now = round;
    if (arrived.incrementAndGet() == threads) {
      arrived.set(0);
      round = now + 1;
      return;
    }
    for (int spin = 0; round == now; ++spin) {
      pause(spin);
    }
  }

  /** For loops that wait for another thread: it spins first where every thread has a core. */
  public void pause(int spin) {
    if (spin < spins) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }

  /**
   * Replaces up to eight numbers by their totals over all threads, the same to the last bit at
   * each. Threads write and read places by turns, so that one barrier is enough.
   */
  public void sum(int thread, double[] numbers) {
    final int turn = turns[PLACE * thread];
    turns[PLACE * thread] = TURN - turn;
    System.arraycopy(numbers, 0, places, PLACE * thread + turn, numbers.length);
    barrier();
    for (int i = 0; i < numbers.length; ++i) {
      double total = 0;
      for (int other = 0; other < threads; ++other) {
        total += places[PLACE * other + turn + i];
      }
      numbers[i] = total;
    }
  }

  /** Where part {@code number} of {@code size} equal things begins, of as many as threads. */
  public int begin(int size, int number) {
    return (int) ((long) size * number / threads);
  }

  private void serve(int thread) {
    int seen = 0;
    for (;;) {
      while (begun == seen) {
        LockSupport.park(this);
      }
      seen = begun;
      try {
        work.run(thread);
      } catch (Throwable error) {
        Failure.end(error);
      }
      barrier();
    }
  }
}
