// SPDX-License-Identifier: Apache-2.0
package npb.flow;

/** How BT or SP solve the equations along lines; a thread has one of its own. */
public interface Method {
  /**
   * Solves lines along a direction that lie side by side: by quantity and point an array with the
   * same index for a line in all of them. The first and the last point of a line are on the
   * surface. The solution replaces r; the change that follows from that of the last direction is
   * added to u.
   */
  void solve(int direction, double[][][] u, double[][][] r);
}
