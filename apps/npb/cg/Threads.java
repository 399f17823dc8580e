package npb.cg;

import java.util.Arrays;
import java.util.List;
import npb.Check;
import npb.KernelInfo;
import npb.SteppedKernel;
import npb.Team;

/**
 * CG: a thread has some rows of the matrix and of all vectors, which all threads read. Before a
 * product they wait for each other, and in every sum.
 */
public final class Threads extends SteppedKernel {
  public static final KernelInfo INFO = Problem.INFO;

  private final Team team;
  private final Problem problem;
  private final Matrix matrix;
  private final double[][] vectors;
  private final Solver[] solvers;
  private double zeta;

  Threads(Team team, char problemClass) {
    this.team = team;
    problem = Problem.of(problemClass);
    matrix = new Matrix(problem);
    vectors = new double[5][problem.size()];
    solvers = new Solver[team.threads()];
    for (int thread = 0; thread < solvers.length; ++thread) {
      final int begin = matrix.balancedBegin(thread, solvers.length);
      final int end = matrix.balancedBegin(thread + 1, solvers.length);
      solvers[thread] = new Solver(exchange(thread, begin, end), vectors, begin, end);
    }
  }

  @Override
  protected int count() {
    return problem.iterations();
  }

  @Override
  public List<Check> checks() {
    return List.of(new Check("zeta", zeta, problem.zeta(), Problem.TOLERANCE));
  }

  @Override
  protected void start() {
    Arrays.fill(vectors[0], 1.0);
  }

  @Override
  protected void steps(int count) {
    team.run(
        thread -> {
          double found = 0;
          for (int step = 0; step < count; ++step) {
            found = solvers[thread].iterate(problem.shift());
          }
          if (thread == 0) {
            zeta = found;
          }
        });
  }

  private Solver.Exchange exchange(int thread, int begin, int end) {
    return new Solver.Exchange() {
      @Override
      public void multiply(double[] in, double[] out) {
        team.barrier();
        Numerics.multiply(matrix, in, out, begin, end);
      }

      @Override
      public void sum(double[] numbers) {
        team.sum(thread, numbers);
      }
    };
  }
}
