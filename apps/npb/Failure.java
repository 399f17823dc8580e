package npb;

/** How the program ends where it cannot go on: others of the team would wait for ever. */
final class Failure {
  private Failure() {}

  static void end(Throwable error) {
    System.err.println("probe: " + error);
    for (StackTraceElement place : error.getStackTrace()) {
      System.err.println("  at " + place);
    }
    System.err.flush();
    Runtime.getRuntime().halt(2);
  }
}
