package npb;

import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** JSON of maps, lists, texts, numbers and truth values. */
final class Json {
  private Json() {}

  static String text(Object value) {
    if (value instanceof Map<?, ?> map) {
      return map.entrySet().stream()
          .map(entry -> quoted(entry.getKey().toString()) + ":" + text(entry.getValue()))
          .collect(Collectors.joining(",", "{", "}"));
    }
    if (value instanceof Iterable<?> list) {
      return StreamSupport.stream(list.spliterator(), false)
          .map(Json::text)
          .collect(Collectors.joining(",", "[", "]"));
    }
    if (value instanceof Double number && !Double.isFinite(number)) {
      return "null";
    }
    return value instanceof String words ? quoted(words) : String.valueOf(value);
  }

  private static String quoted(String words) {
    final StringBuilder out = new StringBuilder("\"");
    for (char letter : words.toCharArray()) {
      if (letter == '"' || letter == '\\') {
        out.append('\\').append(letter);
      } else if (letter < ' ') {
        out.append(String.format("\\u%04x", (int) letter));
      } else {
        out.append(letter);
      }
    }
    return out.append('"').toString();
  }
}
