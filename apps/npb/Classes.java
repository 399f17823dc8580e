package npb;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** The classes of a kernel and their official values, from the table that C++ is compiled with. */
public final class Classes {
  private static final String TABLE = "classes.inc";
  private static final Pattern COMMENT = Pattern.compile("//.*");
  private static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]*)?(e-?[0-9]+)?");

  private Classes() {}

  /** The numbers of a class in the order of the table beside {@code member}, a class of Java. */
  public static double[] of(Class<?> member, char name) {
    final String text = COMMENT.matcher(text(member)).replaceAll("");
    final String mark = "'" + name + "'";
    final int at = text.indexOf(mark);
    if (at < 0) {
      throw new InputError("there is no class '" + name + "'");
    }
    final int begin = at + mark.length();
    final int next = text.indexOf('\'', begin);
    final String row = text.substring(begin, next < 0 ? text.length() : next);
    return NUMBER
        .matcher(row)
        .results()
        .mapToDouble(found -> Double.parseDouble(found.group()))
        .toArray();
  }

  private static String text(Class<?> member) {
    try (InputStream table = member.getResourceAsStream(TABLE)) {
      return new String(table.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
