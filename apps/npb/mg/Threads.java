package npb.mg;

import java.util.Arrays;
import java.util.List;
import npb.Check;
import npb.KernelInfo;
import npb.SteppedKernel;
import npb.Team;

/** MG: threads have some planes of every grid, and close the grid at its ends. */
public final class Threads extends SteppedKernel {
  public static final KernelInfo INFO = Problem.INFO;

  private final Team team;
  private final Problem problem;
  private final Grid[] u;
  private final Grid v;
  private final Charges charges;
  private final Cycle[] cycles;
  private final double[] squares;
  private double norm;

  Threads(Team team, char problemClass) {
    this.team = team;
    problem = Problem.of(problemClass);
    u = new Grid[problem.levels()];
    final Grid[] r = new Grid[u.length];
    for (int level = 0; level < u.length; ++level) {
      u[level] = new Grid(2 << level);
      r[level] = new Grid(2 << level);
    }
    v = new Grid(problem.size());
    charges = new Charges(v);
    cycles = new Cycle[team.threads()];
    squares = new double[team.threads()];
    team.run(thread -> cycles[thread] = new Cycle(team, thread, problem.smoother(), u, r, v));
  }

  @Override
  protected int count() {
    return problem.iterations();
  }

  @Override
  public List<Check> checks() {
    return List.of(new Check("norm", norm, problem.norm(), Problem.TOLERANCE));
  }

  @Override
  protected void start() {
    Arrays.fill(u[u.length - 1].values, 0);
    charges.put(v.values);
  }

  @Override
  protected void steps(int count) {
    team.run(
        thread -> {
          cycles[thread].findResidual();
          for (int step = 0; step < count; ++step) {
            cycles[thread].step();
          }
          squares[thread] = cycles[thread].residualSquares();
        });
    norm = Math.sqrt(Arrays.stream(squares).sum() / problem.points());
  }
}
