package npb;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs a kernel until there are enough samples; a whole run is one sample. All times are in s. */
final class Measurement {
  /** Calls are repeated for so long at least, and at most. */
  private static final double WARM_UP_MIN = 0.3;
  private static final double WARM_UP_MAX =
      Double.parseDouble(System.getProperty("npb.warm_up_s_max", "10"));
  private static final int CALLS_WITHOUT_GAIN = 3;

  final List<Double> samples = new ArrayList<>();
  final Map<String, Object> values = new LinkedHashMap<>();
  boolean verified = true;
  double elapsed;
  String stop = "none";

  private final Effort effort;

  Measurement(Effort effort) {
    this.effort = effort;
  }

  void measure(Kernel kernel, double operations) {
    final double warmUp = warmUp(kernel);
    System.gc();
    double collected = 0;
    double compiled = 0;
    final double began = Clock.now();
    while (stop.equals("none")) {
      kernel.prepare();
      collected -= collectorTime();
      compiled -= compilerTime();
      final double start = Clock.now();
      kernel.run();
      samples.add(Clock.now() - start);
      collected += collectorTime();
      compiled += compilerTime();
      elapsed = Clock.now() - began;
      judge(kernel);
      if (!verified || samples.size() >= effort.samplesMax()) {
        stop = "samples";
      } else if (elapsed >= effort.slice()) {
        stop = "time";
      }
    }
    values.put("mops", operations / median(samples) / 1e6);
    values.put("warm_up_s", warmUp);
    values.put("collector_s", collected);
    values.put("compiler_s", compiled);
  }

  /**
   * Calls until half of them, the last ones, have gained nothing and made nobody compile: methods
   * are compiled when they have been called often enough.
   */
  private static double warmUp(Kernel kernel) {
    kernel.prepare();
    final double began = Clock.now();
    double best = Double.MAX_VALUE;
    int calls = 0;
    int withoutGain = 0;
    double spent = 0;
    while (spent < WARM_UP_MAX
        && (spent < WARM_UP_MIN || withoutGain < Math.max(CALLS_WITHOUT_GAIN, calls / 2))) {
      final double compiled = compilerTime();
      final double start = Clock.now();
      kernel.warmUp();
      final double time = Clock.now() - start;
      ++calls;
      final boolean gains = time < 0.95 * best || compilerTime() > compiled;
      withoutGain = gains ? 0 : withoutGain + 1;
      best = Math.min(best, time);
      spent = Clock.now() - began;
    }
    return spent;
  }

  /** Whether the run is verified; of the worst of its checks both numbers are kept. */
  private void judge(Kernel kernel) {
    final List<Check> checks = kernel.checks();
    final Check worst =
        Collections.max(
            checks,
            Comparator.comparing((Check c) -> !c.verified()).thenComparing(Check::deviation));
    values.put("computed", worst.computed());
    values.put("official", worst.official());
    values.put("deviation", worst.deviation());
    verified = checks.stream().allMatch(Check::verified);
  }

  private static double collectorTime() {
    long spent = 0;
    for (GarbageCollectorMXBean one : ManagementFactory.getGarbageCollectorMXBeans()) {
      spent += one.getCollectionTime();
    }
    return spent * 1e-3;
  }

  private static double compilerTime() {
    return ManagementFactory.getCompilationMXBean().getTotalCompilationTime() * 1e-3;
  }

  private static double median(List<Double> numbers) {
    final List<Double> sorted = new ArrayList<>(numbers);
    Collections.sort(sorted);
    final int half = sorted.size() / 2;
    final boolean odd = sorted.size() % 2 == 1;
    return odd ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
  }
}
