package npb.mg;

import npb.Team;

/**
 * MG: the order of a V-cycle, as each thread goes through it on its planes of every grid. After
 * each step threads wait for each other.
 */
final class Cycle {
  private final Team team;
  private final int thread;
  private final double[] smoother;
  private final Grid[] u;
  private final Grid[] r;
  private final Grid v;
  private final int top;
  private final Numerics numerics;

  Cycle(Team team, int thread, double[] smoother, Grid[] u, Grid[] r, Grid v) {
    this.team = team;
    this.thread = thread;
    this.smoother = smoother;
    this.u = u;
    this.r = r;
    this.v = v;
    top = u.length - 1;
    numerics = new Numerics(v.size);
  }

  /** r = v - A u on the finest grid. */
  void findResidual() {
    numerics.residual(u[top], v, r[top], first(top), last(top));
    halo(r[top], top);
  }

  /** One V-cycle: u comes nearer to the solution; then the new residual. */
  void step() {
    for (int level = top; level > 0; --level) {
      numerics.restrictTo(r[level], r[level - 1], first(level - 1), last(level - 1));
      halo(r[level - 1], level - 1);
    }
    numerics.smooth(smoother, r[0], u[0], false, first(0), last(0));
    halo(u[0], 0);
    for (int level = 1; level < top; ++level) {
      climb(level);
    }
    interpolate(top, true);
    findResidual();
    numerics.smooth(smoother, r[top], u[top], true, first(top), last(top));
    halo(u[top], top);
    findResidual();
  }

  /** The sum of the squares of the residual at this thread's points. */
  double residualSquares() {
    return Numerics.squares(r[top], first(top), last(top));
  }

  /** What the next coarser grid found, smoothed on this one. */
  private void climb(int level) {
    interpolate(level, false);
    numerics.residual(u[level], r[level], r[level], first(level), last(level));
    halo(r[level], level);
    numerics.smooth(smoother, r[level], u[level], true, first(level), last(level));
    halo(u[level], level);
  }

  /** Whoever has the first or the last plane has the one behind it, too. */
  private void interpolate(int level, boolean adds) {
    final int size = u[level].size;
    if (first(level) <= last(level)) {
      final int begin = first(level) == 1 ? 0 : first(level);
      final int end = last(level) == size ? size + 1 : last(level);
      numerics.interpolate(u[level - 1], u[level], adds, begin, end);
    }
    team.barrier();
  }

  private void halo(Grid grid, int level) {
    grid.wrap(first(level), last(level));
    team.barrier();
  }

  private int first(int level) {
    return 1 + team.begin(u[level].size, thread);
  }

  private int last(int level) {
    return team.begin(u[level].size, thread + 1);
  }
}
