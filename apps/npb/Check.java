package npb;

/**
 * One number that a run is verified by. {@code tolerance} is the largest deviation that is right,
 * relative where the official value is not 0.
 */
public record Check(String name, double computed, double official, double tolerance) {
  public double deviation() {
    final double difference = Math.abs(computed - official);
    return official == 0 ? difference : difference / Math.abs(official);
  }

  /** Not a number is not verified. */
  public boolean verified() {
    return deviation() <= tolerance;
  }
}
