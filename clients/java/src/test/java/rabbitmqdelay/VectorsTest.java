package rabbitmqdelay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class VectorsTest {
  @Test
  void encodesAsTheReferenceDoes() {
    assertTrue(Vectors.list("encodings").size() > 1900);
    for (Map<String, Object> vector : Vectors.list("encodings")) {
      DelayNetwork network = Vectors.network(vector);
      Duration delay = Vectors.milliseconds(vector.get("delayMs"));
      String destination = (String) vector.get("destination");
      double tolerance = (Double) vector.get("tolerance");
      if (vector.get("refused") instanceof String refused) {
        DelayException thrown =
            assertThrows(DelayException.class, () -> network.encode(delay, destination, tolerance), vector::toString);
        assertEquals(refused.replace("delayMs", "delay"), thrown.argument(), vector::toString);
        continue;
      }
      Map<String, Object> expected = Vectors.object(vector.get("expected"));
      assertEquals(
          new EncodedDelay(
              (String) expected.get("exchange"),
              (String) expected.get("routingKey"),
              Vectors.integer(expected.get("level")),
              Vectors.milliseconds(expected.get("delayMs")),
              Vectors.integer(expected.get("hops"))),
          network.encode(delay, destination, tolerance),
          vector::toString);
    }
  }

  @Test
  void showsNothingOfADescriptorThatMayBeAPassword() {
    int count = 0;
    for (Map<String, Object> network : Vectors.list("networks")) {
      for (String property : network.keySet()) {
        for (Object given : List.of("amqp://shop:hunter2@broker", "user:hunter2@host", "https://h/?token=hunter2", List.of("hunter2"), Map.of("password", "hunter2"))) {
          Map<String, Object> mistyped = new HashMap<>(network);
          mistyped.put(property, given);
          if (property.equals("vhost")) mistyped.put("prefix", 7L);
          String message = assertThrows(DescriptorException.class, () -> DelayNetwork.of(mistyped), property).getMessage();
          assertTrue(!message.contains("hunter2"), message);
          count++;
        }
      }
    }
    assertTrue(count > 100);
  }

  @Test
  void showsOnlyPlainWordsOfWhatIsGiven() {
    DelayNetwork network = Vectors.NETWORKS.get(0);
    for (String text : List.of("user:hunter2@host", "//u:hunter2@h", "https://h/?token=hunter2", "x/hunter2 x", "/hunter2\n", "a\n://hunter2/")) {
      Map<String, Object> written = new HashMap<>(Vectors.list("networks").get(0));
      written.put("preset", text);
      DescriptorException refused = assertThrows(DescriptorException.class, () -> DelayNetwork.of(written));
      assertTrue(refused.getMessage().startsWith("network.preset: this text is not allowed"), refused.getMessage());
      DelayException thrown = assertThrows(DelayException.class, () -> network.encode(Duration.ZERO, text));
      assertTrue(thrown.getMessage().startsWith("destination: this text is not allowed"), thrown.getMessage());
    }
    for (String text : List.of("Sales/1", "amq.Größe-1_x:#", "#", "*.𝒳")) {
      String message = assertThrows(DelayException.class, () -> network.encode(Duration.ZERO, text + "/")).getMessage();
      assertTrue(message.startsWith("destination: \"" + text + "/\" is not allowed"), message);
    }
  }

  @Test
  void showsNothingOfWhatIsNoJson() {
    for (String json : List.of("hunter2secret", "{\"kind\":hunter2secret}", "{\"kind\":\"hunter2secret", "[1]hunter2secret", "1hunter2secret")) {
      for (Throwable thrown = assertThrows(DescriptorException.class, () -> DelayNetwork.parse(json));
          thrown != null;
          thrown = thrown.getCause()) {
        String message = thrown.getMessage();
        assertTrue(message.matches("network: it must be JSON; see line 1, column \\d+"), message);
      }
    }
  }

  @Test
  void routesIntervalsAsTheReferenceDoes() {
    RetryIntervals intervals = RetryIntervals.of(Vectors.object(Vectors.ALL.get("intervals")));
    for (Map<String, Object> vector : Vectors.list("routes")) {
      Duration delay = Vectors.milliseconds(vector.get("delayMs"));
      if (vector.containsKey("refused")) {
        assertEquals("delay", assertThrows(DelayException.class, () -> intervals.exchangeOf(delay)).argument());
      } else {
        assertEquals(vector.get("exchange"), intervals.exchangeOf(delay));
      }
    }
  }

  @Test
  void writesTheHeadersOfTheReference() {
    for (Map<String, Object> vector : Vectors.list("headers")) {
      DelayNetwork network = Vectors.network(vector);
      Duration delay = network.encode(Vectors.milliseconds(vector.get("delayMs")), "Sales").delay();
      Map<String, Object> before = new HashMap<>(Map.of("x-death", "from an earlier publish"));
      ((List<?>) vector.get("removed")).forEach(name -> before.put((String) name, "from an earlier publish"));
      Map<String, Object> expected = new HashMap<>();
      Vectors.object(vector.get("expected"))
          .forEach(
              (name, typed) -> {
                Object value = Vectors.object(typed).get("value");
                expected.put(name, Vectors.object(typed).get("type").equals("int32") ? (Object) Vectors.integer(value) : value);
              });
      if (network.isNServiceBus()) before.put(Outgoing.NSERVICEBUS_SENT, "2020-01-01 00:00:00:000000 Z");
      Instant sentAt = Instant.parse((String) vector.get("sentAt"));
      assertEquals(expected, Outgoing.headers(network, before, delay, sentAt), vector::toString);
      assertTrue(before.containsKey("x-death"), "what the caller gave is copied");
    }
  }

  @Test
  void refusesTheDescriptorsThatTheReferenceRefuses() {
    int count = 0;
    for (Map<String, Object> vector : Vectors.list("refusals")) {
      // Whether names are the preset's own, and whether somebody reads a property, is not checked here.
      if (Set.of("fixed", "unknown").contains(vector.get("reason"))) continue;
      count++;
      String json = (String) vector.get("json");
      boolean isNetwork = vector.get("kind").equals("delay-network");
      DescriptorException thrown =
          assertThrows(
              DescriptorException.class,
              () -> {
                if (isNetwork) DelayNetwork.parse(json);
                else RetryIntervals.parse(json);
              },
              json);
      assertEquals(((String) vector.get("refused")).split("\\[")[0], thrown.property().split("\\[")[0], json);
    }
    assertTrue(count >= 70, () -> "there are refusals");
  }

  @Test
  void readsWhatTheReferenceWrote() {
    for (int index = 0; index < Vectors.NETWORKS.size(); index++) {
      DelayNetwork network = Vectors.NETWORKS.get(index);
      Map<String, Object> written = Vectors.list("networks").get(index);
      assertEquals(written.get("preset"), network.preset());
      assertEquals(written.get("prefix"), network.prefix());
      assertEquals(written.get("queueType"), network.queueType());
      assertEquals(written.get("matching"), network.matching());
      assertEquals(written.get("radix"), (double) network.radix());
      assertEquals(written.get("levels"), (double) network.levels());
      assertEquals(Vectors.milliseconds(written.get("unitMs")), network.unit());
      assertEquals(Vectors.milliseconds(written.get("maximumDelayMs")), network.maximumDelay());
      assertEquals(written.get("entryExchanges"), network.entryExchanges());
      assertEquals(written.get("deliveryExchange"), network.deliveryExchange());
      assertEquals(written.getOrDefault("bindingExchange", network.deliveryExchange()), network.bindingExchange());
      assertEquals(Optional.ofNullable(written.get("parkingExchange")), network.parkingExchange());
      assertEquals(Optional.ofNullable(written.get("parkingQueue")), network.parkingQueue());
      assertEquals(Optional.ofNullable(written.get("vhost")), network.vhost());
    }
    RetryIntervals intervals = RetryIntervals.of(Vectors.object(Vectors.ALL.get("intervals")));
    assertEquals("mt-delay", intervals.prefix());
    assertEquals("classic", intervals.queueType());
    assertEquals(false, intervals.isAtLeastOnce());
    assertEquals(
        List.of(Duration.ofMillis(1), Duration.ofSeconds(3), Duration.ofSeconds(5), Duration.ofMinutes(15)), intervals.intervals());
  }

  @Test
  void namesWhatIsNotAllowed() {
    DelayNetwork network = Vectors.NETWORKS.get(0);
    Duration hour = Duration.ofHours(1);
    Map<Runnable, String> calls = new HashMap<>();
    calls.put(() -> network.encode(null, "Sales"), "delay");
    calls.put(() -> network.encode(Duration.ofSeconds(Long.MAX_VALUE), "Sales"), "delay");
    calls.put(() -> network.encode(network.maximumDelay().plusNanos(1), "Sales"), "delay");
    calls.put(() -> network.encode(hour, null), "destination");
    calls.put(() -> network.encode(hour, "\ud800"), "destination");
    calls.put(() -> network.encode(hour, "Sales", -1), "tolerance");
    calls.put(() -> network.encode(hour, "Sales", Double.NaN), "tolerance");
    calls.put(() -> network.encode(hour, "Sales", Double.POSITIVE_INFINITY), "tolerance");
    calls.forEach((call, argument) -> assertEquals(argument, assertThrows(DelayException.class, call::run).argument()));
    assertEquals(network.encode(Duration.ZERO, "Sales"), network.encode(Duration.ofSeconds(Long.MIN_VALUE), "Sales", 0.1));
    List<String> given = new ArrayList<>(List.of("", "{", "[]", "7", "null", "{} {}"));
    given.add(null);
    for (String json : given) {
      assertEquals("network", assertThrows(DescriptorException.class, () -> DelayNetwork.parse(json)).property());
    }
  }
}
