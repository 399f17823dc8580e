package npb.flow;

import java.util.List;
import java.util.function.Supplier;
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

  /** {@code make} makes a thread's method. */
  public Alternating(Team team, Problem problem, Supplier<Method> make) {
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
          methods[thread] = make.get();
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
    if (begin < end) {
      residuals[thread].start(u, begin);
    }
    for (int k = begin; k < end; ++k) {
      residuals[thread].plane(u, forcing, problem.dt(), r, k);
      solve(thread, 0, k);
      solve(thread, 1, k);
    }
    team.barrier();
    for (int j = begin; j < end; ++j) {
      solve(thread, 2, j);
    }
    team.barrier();
  }

  /** All lines along a direction in one plane. */
  private void solve(int thread, int direction, int plane) {
    final Lines own = lines[thread];
    final Method method = methods[thread];
    final int turn = method.turnsRight() ? direction : 0;
    final int last = problem.n() - 1;
    for (int first = 1; first < last; first += Tile.LANES) {
      final int count = Math.min(Tile.LANES, last - first);
      own.take(direction, direction, u, plane, first, count, own.u);
      own.take(direction, turn, r, plane, first, count, own.r);
      method.solve(direction, own.u, own.r, Tile.end(count));
      if (direction == 2) {
        own.give(direction, direction, own.u, u, plane, first, count);
      } else {
        own.give(direction, turn, own.r, r, plane, first, count);
      }
    }
  }

  /** The first plane across a direction that a thread has. */
  private int begin(int thread) {
    return 1 + team.begin(problem.n() - 2, thread);
  }
}
