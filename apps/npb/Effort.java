package npb;

import java.util.Map;

/** How much effort a point is worth: seconds that the samples may take, and their number. */
record Effort(double slice, int samplesMax) {
  private static final String SLICE_S = "0.02";
  private static final String SAMPLES_MAX = "200";

  static Effort of(Map<String, String> point) {
    try {
      return new Effort(
          Double.parseDouble(point.getOrDefault("slice_s", SLICE_S)),
          Integer.parseInt(point.getOrDefault("samples_max", SAMPLES_MAX)));
    } catch (NumberFormatException error) {
      throw new InputError("not a number: " + error.getMessage());
    }
  }
}
