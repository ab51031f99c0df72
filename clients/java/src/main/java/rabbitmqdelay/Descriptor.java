package rabbitmqdelay;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** A descriptor of which the kind and the version are checked; each refusal names the property. */
final class Descriptor {
  /** The largest {@code x-message-ttl} of RabbitMQ, in milliseconds: ten years. */
  static final long LONGEST_TTL_MS = 315_360_000_000L;

  private final Map<?, ?> values;
  private final String name;

  Descriptor(Object given, String kind, String name, int newest) {
    if (!(given instanceof Map<?, ?> object)) {
      throw new DescriptorException(name, "it must be an object with kind: " + kind);
    }
    this.values = object;
    this.name = name;
    oneOf("kind", kind);
    integer("version", 1, newest);
  }

  static Object parse(String json, String name) {
    if (json == null) throw new DescriptorException(name, "it is missing");
    try {
      return Json.read(json);
    } catch (JsonProcessingException e) {
      throw new DescriptorException(name, "it must be JSON" + place(e.getLocation()));
    } catch (IOException e) {
      throw new DescriptorException(name, "it must be JSON: " + e.getMessage());
    }
  }

  /** Only where it ends to be JSON: Jackson's message and cause show what stands there, which may be a password. */
  private static String place(JsonLocation location) {
    return location == null ? "" : "; see line " + location.getLineNr() + ", column " + location.getColumnNr();
  }

  /** The exception for a property, which says what it must be. */
  DescriptorException refuse(String property, String allowed) {
    String given = has(property) ? shown(values.get(property), allowed) : "a missing value";
    return new DescriptorException(name + "." + property, given + " is not allowed; " + allowed);
  }

  /** What is allowed where no text, and no number, can stand. */
  private static final Pattern NO_TEXT =
      Pattern.compile("(it must be (a whole number|true or false|a list|one of \\d|the \\d+ exchanges)|each must be|for this shape).*", Pattern.DOTALL);

  private static final Pattern NO_NUMBER =
      Pattern.compile("it must be (a (non-empty )?text|true or false|a list|one of \\D|the \\d+ exchanges).*", Pattern.DOTALL);

  /** A value for a message, unless it may hold a password that was mistyped: what is of another kind, and a text that is no plain word. */
  private static String shown(Object value, String allowed) {
    if (value instanceof List) return "this list";
    if (value instanceof Map) return "this object";
    if (value instanceof String && NO_TEXT.matcher(allowed).matches()) return "this text";
    if (value instanceof Number && NO_NUMBER.matcher(allowed).matches()) return "this number";
    return Names.shown(value);
  }

  boolean has(String property) {
    return values.containsKey(property);
  }

  String text(String property) {
    if (values.get(property) instanceof String text) return text;
    throw refuse(property, "it must be a text");
  }

  String oneOf(String property, String... allowed) {
    if (values.get(property) instanceof String text && List.of(allowed).contains(text)) return text;
    throw refuse(property, "it must be one of " + String.join(", ", allowed));
  }

  String entity(String property) {
    String text = text(property);
    String reason = Names.whyNoEntity(text, Names.SHORT_STRING_BYTES);
    if (reason != null) throw refuse(property, reason);
    return text;
  }

  /** Null where the property is not there. */
  String optionalEntity(String property) {
    return has(property) ? entity(property) : null;
  }

  boolean flag(String property, boolean otherwise) {
    if (!has(property)) return otherwise;
    if (values.get(property) instanceof Boolean flag) return flag;
    throw refuse(property, "it must be true or false");
  }

  long integer(String property, long minimum, long maximum) {
    return integerOf(values.get(property), minimum, maximum)
        .orElseThrow(() -> refuse(property, "it must be a whole number from " + minimum + " to " + maximum));
  }

  List<Long> integers(String property, long minimum, long maximum) {
    List<Long> found = new ArrayList<>();
    for (Object given : list(property)) {
      found.add(
          integerOf(given, minimum, maximum)
              .orElseThrow(() -> refuse(property, "each must be a whole number from " + minimum + " to " + maximum)));
    }
    return found;
  }

  List<String> texts(String property) {
    List<String> found = new ArrayList<>();
    for (Object given : list(property)) {
      if (!(given instanceof String text)) throw refuse(property, "it must be a list of texts");
      found.add(text);
    }
    return found;
  }

  private List<?> list(String property) {
    if (values.get(property) instanceof List<?> list && !list.isEmpty()) return list;
    throw refuse(property, "it must be a list of at least one");
  }

  /** JSON has one kind of number: 1000, 1000.0 and 1e3 are the same. */
  private static OptionalLong integerOf(Object given, long minimum, long maximum) {
    if (!(given instanceof Number number)) return OptionalLong.empty();
    double value = number.doubleValue();
    boolean isAllowed = value == Math.rint(value) && value >= minimum && value <= maximum;
    return isAllowed ? OptionalLong.of((long) value) : OptionalLong.empty();
  }
}
