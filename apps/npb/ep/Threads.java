package npb.ep;

import java.util.List;
import npb.Check;
import npb.Kernel;
import npb.KernelInfo;
import npb.Team;

/** EP: threads take batches, and their tallies are added at the end. */
public final class Threads implements Kernel {
  public static final KernelInfo INFO = Problem.INFO;

  private static final int WARM_UP_BATCHES = 16;

  private final Team team;
  private final Problem problem;
  private final Numerics[] numerics;
  private final Tally[] tallies;
  private final Tally tally = new Tally();

  Threads(Team team, char problemClass) {
    this.team = team;
    problem = Problem.of(problemClass);
    numerics = new Numerics[team.threads()];
    tallies = new Tally[team.threads()];
    team.run(
        thread -> {
          numerics[thread] = new Numerics();
          tallies[thread] = new Tally();
        });
  }

  @Override
  public void prepare() {
    tally.clear();
  }

  @Override
  public void warmUp() {
    add(WARM_UP_BATCHES);
  }

  @Override
  public void run() {
    add(1 << (problem.logPairs() - Numerics.LOG_BATCH));
    for (Tally one : tallies) {
      tally.add(one);
    }
  }

  @Override
  public List<Check> checks() {
    return problem.checks(tally);
  }

  private void add(int batches) {
    team.run(
        thread -> {
          tallies[thread].clear();
          final int end = team.begin(batches, thread + 1);
          for (int batch = team.begin(batches, thread); batch < end; ++batch) {
            numerics[thread].addBatch(batch, tallies[thread]);
          }
        });
  }
}
