package npb.lu;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import npb.Check;
import npb.InputError;
import npb.KernelInfo;
import npb.SteppedKernel;
import npb.Team;
import npb.flow.Field;
import npb.flow.Problem;
import npb.flow.Residual;

/** LU: threads have rows of every plane, and follow each other from plane to plane. */
public final class Threads extends SteppedKernel {
  public static final KernelInfo INFO = Problems.INFO;

  private static final int SIZE = 5;
  /** Places of the counts: none shares a cache line with another one. */
  private static final int APART = 32;

  private final Team team;
  private final Problem problem;
  private final int n;
  private final Field u;
  private final Field r;
  private final Field forcing;
  private final Residual[] residuals;
  private final Sweeps[] sweeps;
  /** By thread and plane the products for the next thread, by quantity and point. */
  private final double[][][][] handed;
  private final AtomicIntegerArray planes;

  Threads(Team team, char problemClass) {
    this.team = team;
    problem = Problems.of(problemClass);
    n = problem.n();
    if (team.threads() > n - 2) {
      throw new InputError("npb-lu of this class runs on at most " + (n - 2) + " threads");
    }
    u = new Field(n, 1);
    r = new Field(n, 0);
    forcing = new Field(n, 0);
    u.set(true);
    Residual.setForcing(u, forcing);
    residuals = new Residual[team.threads()];
    sweeps = new Sweeps[team.threads()];
    handed = new double[team.threads()][n][SIZE][n - 2];
    planes = new AtomicIntegerArray(APART * team.threads());
    team.run(
        thread -> {
          residuals[thread] = new Residual(n, begin(thread), begin(thread + 1));
          sweeps[thread] = new Sweeps(n, problem.dt(), begin(thread), begin(thread + 1));
        });
  }

  @Override
  protected int count() {
    return problem.steps();
  }

  @Override
  protected void start() {
    u.set(false);
  }

  @Override
  protected void steps(int count) {
    team.run(
        thread -> {
          for (int i = 0; i < count; ++i) {
            step(thread);
          }
          residuals[thread].start(u, 1);
          for (int k = 1; k < n - 1; ++k) {
            residuals[thread].plane(u, forcing, 1, r, k);
          }
        });
  }

  @Override
  public List<Check> checks() {
    final List<Check> checks = new ArrayList<>(problem.checks(r.norms(), u.errors()));
    final double found = new Surface(u).integral();
    checks.add(new Check("surface integral", found, problem.surface(), Problem.TOLERANCE));
    return checks;
  }

  private void step(int thread) {
    planes.set(APART * thread, 0);
    team.barrier();
    lower(thread);
    team.barrier();
    planes.set(APART * thread, 0);
    team.barrier();
    upper(thread);
    team.barrier();
  }

  private void lower(int thread) {
    sweeps[thread].start();
    residuals[thread].start(u, 1);
    for (int k = 1; k < n - 1; ++k) {
      residuals[thread].plane(u, forcing, 1, r, k);
      take(thread, thread - 1, k, k - 1);
      sweeps[thread].lower(u, r, k, handed[thread][k]);
      planes.set(APART * thread, k);
    }
  }

  private void upper(int thread) {
    sweeps[thread].start();
    for (int k = n - 2; k > 0; --k) {
      take(thread, thread + 1, k, n - 2 - k);
      sweeps[thread].upper(u, k, handed[thread][k]);
      planes.set(APART * thread, n - 1 - k);
    }
  }

  /** Waits until another thread has gone beyond so many planes, for its products of plane k. */
  private void take(int thread, int other, int k, int before) {
    final boolean isThere = other >= 0 && other < team.threads();
    for (int spin = 0; isThere && planes.get(APART * other) <= before; ++spin) {
      team.pause(spin);
    }
    for (int m = 0; m < SIZE; ++m) {
      final double[] mine = handed[thread][k][m];
      if (isThere) {
        System.arraycopy(handed[other][k][m], 0, mine, 0, mine.length);
      } else {
        Arrays.fill(mine, 0);
      }
    }
  }

  private int begin(int thread) {
    return 1 + team.begin(n - 2, thread);
  }
}
