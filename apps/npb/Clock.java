package npb;

import java.util.LinkedHashMap;
import java.util.Map;

/** The clock that runs are timed by. */
final class Clock {
  private static final int READINGS = 10000;

  private Clock() {}

  /** In seconds, from a point of its own. */
  static double now() {
    return System.nanoTime() * 1e-9;
  }

  /** Its smallest step and what reading it takes, in seconds. */
  static Map<String, Object> quality() {
    long smallest = Long.MAX_VALUE;
    final long began = System.nanoTime();
    long before = began;
    for (int i = 0; i < READINGS; ++i) {
      final long now = System.nanoTime();
      if (now > before) {
        smallest = Math.min(smallest, now - before);
      }
      before = now;
    }
    final Map<String, Object> quality = new LinkedHashMap<>();
    quality.put("name", "nanoTime");
    quality.put("resolution_s", smallest * 1e-9);
    quality.put("overhead_s", (before - began) * 1e-9 / READINGS);
    return quality;
  }
}
