package npb.flow;

/** How BT or SP solve the equations along lines; a thread has one of its own. */
public interface Method {
  /**
   * Whether momenta of the right-hand side are taken in turn, that along the direction first, as
   * those of the quantities always are.
   */
  boolean turnsRight();

  /**
   * Solves a tile of lines along a direction: by point five quantities of lanes up to {@code end}.
   * The first and the last point of a line are on the surface. The solution replaces r; the change
   * that follows from that of the last direction is added to u.
   */
  void solve(int direction, double[][] u, double[][] r, int end);
}
