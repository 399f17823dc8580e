package npb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Where this process runs, as the kernel tells it. */
final class Host {
  private static final int PROCESSOR_FIELD = 36;

  private Host() {}

  /** The placement of a thread, asked from inside, as records have it. */
  static Map<String, Object> placement(int rank) {
    final Map<String, Object> place = new LinkedHashMap<>();
    place.put("rank", rank);
    place.put("host", read("/proc/sys/kernel/hostname").strip());
    place.put("pid", ProcessHandle.current().pid());
    final List<Integer> allowed = allowedCpus();
    place.put("cpu", processor(allowed));
    place.put("allowed_cpus", allowed);
    return place;
  }

  /** The core that this thread is on: a field behind the name, which may have spaces. */
  private static int processor(List<Integer> allowed) {
    final String status = read("/proc/thread-self/stat");
    final String[] fields = status.substring(status.lastIndexOf(')') + 1).strip().split(" ");
    if (fields.length > PROCESSOR_FIELD) {
      return Integer.parseInt(fields[PROCESSOR_FIELD]);
    }
    return allowed.isEmpty() ? 0 : allowed.get(0);
  }

  private static List<Integer> allowedCpus() {
    final List<Integer> cpus = new ArrayList<>();
    for (String line : read("/proc/thread-self/status").split("\n")) {
      if (!line.startsWith("Cpus_allowed_list:")) {
        continue;
      }
      for (String range : line.substring(line.indexOf(':') + 1).strip().split(",")) {
        final String[] ends = range.split("-");
        final int last = Integer.parseInt(ends[ends.length - 1]);
        for (int cpu = Integer.parseInt(ends[0]); cpu <= last; ++cpu) {
          cpus.add(cpu);
        }
      }
    }
    return cpus;
  }

  private static String read(String path) {
    try {
      return Files.readString(Path.of(path));
    } catch (IOException error) {
      return "";
    }
  }
}
