package npb;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What {@code --describe} prints, in the form of all probes. */
final class Description {
  private Description() {}

  static String text(int schema, String name, List<KernelInfo> kernels) {
    final List<Object> patterns = new ArrayList<>();
    for (KernelInfo info : kernels) {
      patterns.add(pattern(info));
    }
    final Map<String, Object> all = new LinkedHashMap<>();
    all.put("schema", schema);
    all.put("transport", name);
    all.put("what", "NAS Parallel Benchmarks in Java");
    all.put("capabilities", List.of());
    all.put("options", List.of());
    all.put("axes", List.of());
    all.put("patterns", patterns);
    return Json.text(all);
  }

  private static Map<String, Object> pattern(KernelInfo info) {
    final Map<String, Object> memory = new LinkedHashMap<>();
    final Map<String, Object> operations = new LinkedHashMap<>();
    for (char name : info.classes().toCharArray()) {
      operations.put(String.valueOf(name), info.operations().applyAsDouble(name));
      memory.put(String.valueOf(name), info.memoryBytes().applyAsDouble(name));
    }
    final Map<String, Object> one = new LinkedHashMap<>();
    one.put("name", info.name());
    one.put("what", info.what());
    one.put("present", true);
    one.put("needs", "");
    one.put("messages_per_round", 1);
    one.put("ranks_min", 1);
    one.put("bytes_factor", 1);
    one.put("timing", "slowest-rank");
    one.put("sized", false);
    one.put("size_multiple", 1);
    one.put("option", "");
    one.put("axes", List.of(axis()));
    one.put("algorithms", List.of());
    one.put("ranks_rule", "any");
    one.put("memory_bytes", memory);
    one.put("operations", operations);
    return one;
  }

  private static Map<String, Object> axis() {
    final Map<String, Object> axis = new LinkedHashMap<>();
    axis.put("name", "class");
    axis.put("values", "A");
    axis.put("fallback", "");
    axis.put("what", "class of the problem: S, W, A, B, C or D");
    return axis;
  }
}
