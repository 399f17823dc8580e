package npb.bt;

import npb.Kernel;
import npb.KernelInfo;
import npb.Team;
import npb.flow.Alternating;
import npb.flow.Problem;

/** BT: threads share alternating directions. */
public final class Threads {
  public static final KernelInfo INFO = Problems.INFO;

  private Threads() {}

  static Kernel make(Team team, char problemClass) {
    final Problem problem = Problems.of(problemClass);
    return new Alternating(team, problem, () -> new Numerics(problem.n(), problem.dt()));
  }
}
