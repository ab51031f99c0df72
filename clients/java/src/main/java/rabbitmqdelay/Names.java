package rabbitmqdelay;

import java.util.regex.Pattern;

/** What the broker and the stacks allow as names. */
final class Names {
  /** Bytes of UTF-8 that a name or a routing key may have (AMQP 0-9-1, 4.2.5.3). */
  static final int SHORT_STRING_BYTES = 255;

  /** A plain word, as names and choices are. An address, a login and JSON have other characters. */
  private static final Pattern PLAIN_WORD = Pattern.compile("(?!.*://)[\\p{L}\\p{M}\\p{N}_.:/#*+-]*");

  private Names() {}

  /** Why a text can't name an exchange or a queue; null if it can. */
  static String whyNoEntity(String name, int maximumBytes) {
    if (name.isEmpty()) return "it must be a non-empty text";
    if (name.indexOf('@') >= 0 || name.indexOf('/') >= 0) return "it must not contain @ or /";
    int bytes = 0;
    for (int index = 0; index < name.length(); index++) {
      char character = name.charAt(index);
      if (character < ' ' || character == 0x7f) return "it must not contain control characters";
      if (Character.isHighSurrogate(character) && index + 1 < name.length() && Character.isLowSurrogate(name.charAt(index + 1))) {
        index++;
        bytes += 4;
      } else if (Character.isSurrogate(character)) {
        return "it must not contain lone surrogates";
      } else {
        bytes += character < 0x80 ? 1 : character < 0x800 ? 2 : 3;
      }
    }
    if (name.startsWith("amq.")) return "names that start with amq. belong to the broker";
    if (bytes > maximumBytes) return "it has " + bytes + " bytes, at most " + maximumBytes + " bytes are allowed";
    return null;
  }

  /** Why a text can't be a destination in a topic's routing key; null if it can. */
  static String whyNoDestination(String name, int maximumBytes) {
    String reason = whyNoEntity(name, maximumBytes);
    if (reason != null) return reason;
    for (int start = 0; start <= name.length(); ) {
      int dot = name.indexOf('.', start);
      int end = dot < 0 ? name.length() : dot;
      if (end - start == 1 && (name.charAt(start) == '*' || name.charAt(start) == '#')) {
        return "no word between dots may be * or #, which are wildcards in a binding";
      }
      start = end + 1;
    }
    return null;
  }

  /** A value for a message: not megabytes of it, and no text that could be an address with a password in it. */
  static String shown(Object value) {
    if (value instanceof String given && !PLAIN_WORD.matcher(given).matches()) return "this text";
    String text = value instanceof String isText ? '"' + isText + '"' : String.valueOf(value);
    return text.length() <= 320 ? text : text.substring(0, 300) + "… (" + text.length() + " characters)";
  }
}
