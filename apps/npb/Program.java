package npb;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The NAS Parallel Benchmarks in Java: questions in, records out, as probes do. */
public final class Program {
  private static final int SCHEMA = 1;
  private static final String NAME = "npb-java";

  private final Team team;

  private Program(Team team) {
    this.team = team;
  }

  public static void main(String[] arguments) throws IOException {
    // A run must not outlive whoever asked for it.
    ProcessHandle.current()
        .parent()
        .ifPresent(parent -> parent.onExit().thenRun(() -> Runtime.getRuntime().halt(1)));
    int threads = 1;
    for (int i = 0; i < arguments.length; ++i) {
      if (arguments[i].equals("--describe")) {
        System.out.println(Description.text(SCHEMA, NAME, Kernels.ALL));
        return;
      }
      if (!arguments[i].equals("--ranks") || i + 1 == arguments.length) {
        System.err.println("probe: unknown argument '" + arguments[i] + "'");
        System.exit(2);
      }
      threads = Integer.parseInt(arguments[++i]);
    }
    try {
      new Program(new Team(threads)).serve();
    } catch (RuntimeException | Error error) {
      Failure.end(error);
    }
  }

  /** Introduces itself, then answers lines until there are no more. */
  private void serve() throws IOException {
    write(launch());
    final BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.equals("end")) {
        break;
      }
      if (!line.isBlank()) {
        write(answer(line));
      }
    }
    write(Map.of("nhalf", "end"));
  }

  private Map<String, Object> launch() {
    final Map<String, Object> record = new LinkedHashMap<>();
    final List<Map<String, Object>> places = new ArrayList<>();
    for (int thread = 0; thread < team.threads(); ++thread) {
      places.add(null);
    }
    team.run(thread -> places.set(thread, Host.placement(thread)));
    record.put("nhalf", "launch");
    record.put("schema", SCHEMA);
    record.put("transport", NAME);
    record.put("ranks", team.threads());
    record.put("library", System.getProperty("java.vm.name") + " " + Runtime.version());
    record.put("clock", Clock.quality());
    record.put("placement", places);
    return record;
  }

  private Map<String, Object> answer(String line) {
    final Map<String, String> point = new LinkedHashMap<>();
    for (String word : line.strip().split("\\s+")) {
      final int at = word.indexOf('=');
      point.put(at < 0 ? word : word.substring(0, at), word.substring(at + 1));
    }
    try {
      return measured(point);
    } catch (InputError error) {
      return failure(point, error.getMessage());
    } catch (OutOfMemoryError error) {
      return failure(point, "there is not enough memory for the arrays of the kernel");
    }
  }

  private static Map<String, Object> failure(Map<String, String> point, String message) {
    final Map<String, Object> record = new LinkedHashMap<>();
    record.put("nhalf", "error");
    record.put("id", point.getOrDefault("id", ""));
    record.put("message", message);
    return record;
  }

  private Map<String, Object> measured(Map<String, String> point) {
    final KernelInfo info = find(point.getOrDefault("pattern", ""));
    final String name = point.getOrDefault("axis.class", "");
    if (name.length() != 1 || info.classes().indexOf(name.charAt(0)) < 0) {
      throw new InputError("there is no class '" + name + "'");
    }
    final char problemClass = name.charAt(0);
    final double need = info.memoryBytes().applyAsDouble(problemClass);
    if (need > Runtime.getRuntime().maxMemory()) {
      throw new InputError(
          String.format(
              "class %s of %s needs %.1f GB, and the heap of Java has at most %.1f GB",
              name, info.name(), need / 1e9, Runtime.getRuntime().maxMemory() / 1e9));
    }
    final Kernel kernel = info.make().apply(team, problemClass);
    final Measurement result = new Measurement(Effort.of(point));
    result.measure(kernel, info.operations().applyAsDouble(problemClass));
    return record(point.getOrDefault("id", ""), info.name(), result);
  }

  private static KernelInfo find(String name) {
    for (KernelInfo info : Kernels.ALL) {
      if (info.name().equals(name)) {
        return info;
      }
    }
    throw new InputError("there is no kernel '" + name + "'");
  }

  private Map<String, Object> record(String id, String pattern, Measurement result) {
    final Map<String, Object> record = new LinkedHashMap<>();
    record.put("nhalf", "point");
    record.put("id", id);
    record.put("pattern", pattern);
    record.put("ranks", team.threads());
    record.put("bytes", 0);
    record.put("batch", 1);
    record.put("messages_per_round", 1);
    record.put("bytes_per_time", 0);
    record.put("verified", result.verified);
    record.put("stop", result.stop);
    record.put("elapsed_s", result.elapsed);
    record.put("advice", List.of());
    record.put("values", result.values);
    record.put("rank_s", List.of());
    record.put("samples_s", result.samples);
    return record;
  }

  private static void write(Map<String, Object> record) {
    System.out.println(Json.text(record));
    System.out.flush();
  }
}
