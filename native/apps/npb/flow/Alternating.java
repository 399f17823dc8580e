// SPDX-License-Identifier: Apache-2.0
package npb.flow;

import java.util.List;
import java.util.function.IntFunction;
import npb.Check;
import npb.SteppedKernel;
import npb.Team;

/**
 * Alternating directions (BT and SP): threads take planes of points for x and y, and planes across
 * them for z.
 */
public final class Alternating extends SteppedKernel {
  private final Team team;
  private final Problem problem;
  private final Field u;
  private final Field r;
  private final Field forcing;
  private final Residual[] residuals;
  private final Lines[] lines;
  private final Method[] methods;

  /** {@code make} makes a thread's method for so many lines. */
  public Alternating(Team team, Problem problem, IntFunction<Method> make) {
    this.team = team;
    this.problem = problem;
    final int n = problem.n();
    u = new Field(n, 1);
    r = new Field(n, 0);
    forcing = new Field(n, 0);
    u.set(true);
    Residual.setForcing(u, forcing);
    residuals = new Residual[team.threads()];
    lines = new Lines[team.threads()];
    methods = new Method[team.threads()];
    team.run(
        thread -> {
          residuals[thread] = new Residual(n, 1, n - 1);
          lines[thread] = new Lines(n);
          methods[thread] = make.apply(Lines.planes(n) * n);
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
        });
  }

  @Override
  public List<Check> checks() {
    residuals[0].start(u, 1);
    for (int k = 1; k < problem.n() - 1; ++k) {
      residuals[0].plane(u, forcing, 1, r, k);
    }
    return problem.checks(r.norms(), u.errors());
  }

  private void step(int thread) {
    final int begin = begin(thread);
    final int end = begin(thread + 1);
    final Lines own = lines[thread];
    final Method method = methods[thread];
    if (begin < end) {
      residuals[thread].start(u, begin);
    }
    final int together = Lines.planes(problem.n());
    for (int from = begin; from < end; from += together) {
      final int to = Math.min(from + together, end);
      for (int k = from; k < to; ++k) {
        residuals[thread].plane(u, forcing, problem.dt(), r, k);
      }
      own.takeX(u, r, from, to);
      method.solve(0, own.u, own.r);
      own.giveX(r, from, to);
      own.takeY(u, r, from, to);
      method.solve(1, own.u, own.r);
      own.giveY(r, from, to);
    }
    team.barrier();
    for (int from = begin; from < end; from += together) {
      final int to = Math.min(from + together, end);
      own.takeZ(u, r, from, to);
      method.solve(2, own.u, own.r);
      own.giveZ(u, from, to);
    }
    team.barrier();
  }

  /** The first plane across a direction that a thread has. */
  private int begin(int thread) {
    return 1 + team.begin(problem.n() - 2, thread);
  }
}
