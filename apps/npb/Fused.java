package npb;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/**
 * a b + c as one operation where the processor has one. Java rounds the product first unless it is
 * asked not to; and where there is no such operation, what it does then takes microseconds.
 */
public final class Fused {
  private static final boolean FAST = isFast();

  private Fused() {}

  /** a b + c. */
  public static double add(double a, double b, double c) {
    return FAST ? Math.fma(a, b, c) : a * b + c;
  }

  private static boolean isFast() {
    try {
      final HotSpotDiagnosticMXBean machine =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      return machine != null && Boolean.parseBoolean(machine.getVMOption("UseFMA").getValue());
    } catch (IllegalArgumentException error) {
      return false;
    }
  }
}
