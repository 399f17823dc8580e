package npb.ft;

import java.util.List;
import npb.Check;
import npb.Kernel;
import npb.KernelInfo;
import npb.Team;

/**
 * FT: threads take planes of x and y, and rows whose lines along z they transform. They wait for
 * each other in between.
 */
public final class Threads implements Kernel {
  public static final KernelInfo INFO = Problem.INFO;

  private final Team team;
  private final Problem problem;
  private final Decay decay;
  private final Lines spectrum;
  private final Lines field;
  private final Lines exchanged;
  private final Numerics[] numerics;
  private final double[][] sums;

  Threads(Team team, char problemClass) {
    this.team = team;
    problem = Problem.of(problemClass);
    decay = new Decay(problem);
    spectrum = new Lines(problem.nx() / Lines.COUNT * problem.ny() * problem.nz());
    field = new Lines(problem.nx() / Lines.COUNT * problem.ny() * problem.nz());
    exchanged = field.exchanged();
    sums = new double[problem.checksums().length][];
    numerics = new Numerics[team.threads()];
    final Fft x = new Fft(problem.nx());
    final Fft y = new Fft(problem.ny());
    final Fft z = new Fft(problem.nz());
    team.run(thread -> numerics[thread] = new Numerics(problem, x, y, z));
  }

  @Override
  public void prepare() {
    team.run(this::start);
  }

  @Override
  public void warmUp() {
    team.run(thread -> evolve(thread, 1));
  }

  @Override
  public void run() {
    team.run(
        thread -> {
          start(thread);
          for (int step = 0; step < sums.length; ++step) {
            evolve(thread, step + 1);
            if (thread == 0) {
              sums[step] = Numerics.checksum(problem, field);
            }
            team.barrier();
          }
        });
  }

  @Override
  public List<Check> checks() {
    return problem.checks(sums);
  }

  private void start(int thread) {
    final Numerics own = numerics[thread];
    for (int plane = begin(problem.nz(), thread); plane < end(problem.nz(), thread); ++plane) {
      own.startPlane(plane, spectrum);
    }
    team.barrier();
    for (int row = begin(problem.ny(), thread); row < end(problem.ny(), thread); ++row) {
      own.transformAcross(row, spectrum);
    }
    team.barrier();
  }

  /** The field at a time: decayed, and transformed back with its parts exchanged. */
  private void evolve(int thread, int time) {
    if (thread == 0) {
      decay.at(time);
    }
    team.barrier();
    final Numerics own = numerics[thread];
    for (int row = begin(problem.ny(), thread); row < end(problem.ny(), thread); ++row) {
      own.evolve(row, decay, spectrum, field);
      own.transformAcross(row, exchanged);
    }
    team.barrier();
    for (int plane = begin(problem.nz(), thread); plane < end(problem.nz(), thread); ++plane) {
      own.transformPlane(plane, exchanged);
    }
    team.barrier();
  }

  private int begin(int size, int thread) {
    return team.begin(size, thread);
  }

  private int end(int size, int thread) {
    return team.begin(size, thread + 1);
  }
}
