package rabbitmqdelay;

import com.rabbitmq.client.AMQP.BasicProperties;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The properties of a delayed message. */
final class Outgoing {
  static final String DUE_HEADER = "rabbitmq-delay.due-at";
  static final String NSERVICEBUS_DELAY = "NServiceBus.Transport.RabbitMQ.DelayInSeconds";
  static final String NSERVICEBUS_SENT = "NServiceBus.TimeSent";

  /**
   * The broker's record of the waits before. RabbitMQ before 4 reads it back, takes a second wait in one queue for a loop, and drops the
   * message.
   */
  private static final List<String> DEATH_HEADERS =
      List.of(
          "x-death",
          "x-first-death-exchange",
          "x-first-death-queue",
          "x-first-death-reason",
          "x-last-death-exchange",
          "x-last-death-queue",
          "x-last-death-reason",
          "x-delivery-count",
          "x-acquired-count");

  private static final DateTimeFormatter DUE = utc("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'");
  private static final DateTimeFormatter SENT = utc("uuuu-MM-dd HH:mm:ss:SSSSSS 'Z'");

  private Outgoing() {}

  /** Refuses what would make a message early, lead copies past its delay, or lose it in a restart. */
  static void check(BasicProperties given) {
    if (given.getExpiration() != null) {
      throw new DelayException(
          "properties.expiration",
          "the lower of it and a queue's TTL wins, so it would make the message early; give a delay only");
    }
    if (given.getDeliveryMode() != null && given.getDeliveryMode() != 2) {
      throw new DelayException(
          "properties.deliveryMode", "every message is persistent; a transient one would be lost in a restart");
    }
    for (String copies : List.of("CC", "BCC")) {
      if (given.getHeaders() != null && given.getHeaders().containsKey(copies)) {
        throw new DelayException(
            "properties.headers." + copies,
            "copies would be routed past the delay; publish one message for each destination");
      }
    }
    if (given.getHeaders() != null) given.getHeaders().forEach(Outgoing::checkNumbers);
  }

  /** Refuses numbers for which the broker closes the connection, with all that others do on it. */
  private static void checkNumbers(String header, Object value) {
    if (!isFinite(value)) throw new DelayException("properties.headers." + header, "numbers must be finite");
  }

  private static boolean isFinite(Object value) {
    if (value instanceof Double number) return Double.isFinite(number);
    if (value instanceof Float number) return Float.isFinite(number);
    if (value instanceof Map<?, ?> values) return values.values().stream().allMatch(Outgoing::isFinite);
    if (value instanceof List<?> values) return values.stream().allMatch(Outgoing::isFinite);
    if (value instanceof Object[] values) return Arrays.stream(values).allMatch(Outgoing::isFinite);
    return true;
  }

  /** Refuses what can't be written: amqp-client would count the message before it fails, and take the confirms of others for its own. */
  static void checkSize(BasicProperties properties, int maximumFrameBytes) {
    int bytes;
    try {
      bytes = properties.toFrame(1, 0).size();
    } catch (IOException | RuntimeException e) {
      throw new DelayException("properties", String.valueOf(e.getMessage()));
    }
    if (maximumFrameBytes > 0 && bytes > maximumFrameBytes) {
      throw new DelayException("properties", "they have " + bytes + " bytes, at most " + maximumFrameBytes + " are allowed");
    }
  }

  /** The headers of a message, with what tells of its delay; those given are copied. */
  static Map<String, Object> headers(DelayNetwork network, Map<String, Object> given, Duration delay, Instant now) {
    Map<String, Object> headers = given == null ? new HashMap<>() : new HashMap<>(given);
    headers.keySet().removeAll(DEATH_HEADERS);
    headers.put(DUE_HEADER, DUE.format(now.plus(delay)));
    if (network.isNServiceBus()) {
      headers.remove(NSERVICEBUS_DELAY);
      if (!delay.isZero()) headers.put(NSERVICEBUS_DELAY, (int) delay.plusNanos(999_999_999).toSeconds());
      // The vendor's tool that moves delayed messages counts from it, so the time of an earlier publish would make the message early.
      headers.put(NSERVICEBUS_SENT, SENT.format(now));
    }
    return headers;
  }

  private static DateTimeFormatter utc(String pattern) {
    return DateTimeFormatter.ofPattern(pattern).withZone(ZoneOffset.UTC);
  }
}
