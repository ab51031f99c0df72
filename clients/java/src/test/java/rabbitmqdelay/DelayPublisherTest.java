package rabbitmqdelay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Publishes to a real broker, whose address and networks the environment has; without them, nothing is run. */
@EnabledIfEnvironmentVariable(named = "RABBITMQ_URL", matches = ".+")
class DelayPublisherTest {
  private record Received(Instant at, BasicProperties properties) {}

  private record Sent(String body, Receipt receipt, Instant at, Duration delay) {}

  private Connection connection;
  private Channel channel;

  @BeforeEach
  void connect() throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(System.getenv("RABBITMQ_URL"));
    connection = factory.newConnection();
    channel = connection.createChannel();
    channel.queuePurge("billing");
  }

  @AfterEach
  void disconnect() throws IOException {
    connection.close();
  }

  private static DelayNetwork network(String name) {
    return DelayNetwork.parse(System.getenv(name + "_NETWORK"));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The messages of the endpoint by their bodies, each with when it came. */
  private Map<String, Received> receive(int count) throws Exception {
    Map<String, Received> found = new HashMap<>();
    Instant end = Instant.now().plusSeconds(60);
    while (found.size() < count && Instant.now().isBefore(end)) {
      GetResponse response = channel.basicGet("billing", true);
      if (response == null) {
        Thread.sleep(5);
        continue;
      }
      String body = new String(response.getBody(), StandardCharsets.UTF_8);
      assertNull(found.put(body, new Received(Instant.now(), response.getProps())), body + " comes twice");
    }
    assertEquals(count, found.size());
    return found;
  }

  /** Runs all of them side by side; gives each one's result, or what it threw. */
  private static <T> List<Object> sideBySide(List<Callable<T>> calls) throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(32);
    try {
      List<Object> ends = new ArrayList<>();
      for (Future<T> future : threads.invokeAll(calls)) {
        try {
          ends.add(future.get());
        } catch (ExecutionException e) {
          ends.add(e.getCause());
        }
      }
      return ends;
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void publishesByDelayAndByTime() throws Exception {
    BasicProperties given =
        new BasicProperties.Builder().headers(Map.of("own", "kept", "x-death", List.of(), "x-last-death-queue", "a")).build();
    PublishOptions options = PublishOptions.DEFAULT.withProperties(given).withTimeout(Duration.ofMinutes(1));
    try (DelayPublisher publisher = new DelayPublisher(connection, network("PARKED"))) {
      List<Callable<Sent>> calls = new ArrayList<>();
      for (int delayMs : List.of(0, 50, 777, 1200)) {
        Duration delay = Duration.ofMillis(delayMs);
        calls.add(
            () -> {
              Instant now = Instant.now();
              return new Sent("after " + delay, publisher.publish("billing", bytes("after " + delay), delay, options), now, delay);
            });
        calls.add(
            () -> {
              Instant now = Instant.now();
              Receipt receipt = publisher.publish("billing", bytes("at " + delay), now.plus(delay), options);
              return new Sent("at " + delay, receipt, now, delay);
            });
      }
      List<Object> all = sideBySide(calls);
      assertNull(given.getMessageId(), "what the caller gave is copied");
      Map<String, Received> received = receive(all.size());
      for (Object each : all) {
        Sent sent = assertInstanceOf(Sent.class, each);
        Received came = received.get(sent.body);
        assertFalse(came.at.isBefore(sent.at.plus(sent.delay)), () -> sent.body + " came early");
        assertFalse(sent.receipt.dueAt().isBefore(sent.at.plus(sent.delay)));
        assertEquals(sent.receipt.messageId(), came.properties.getMessageId());
        assertEquals(2, came.properties.getDeliveryMode());
        Map<String, Object> headers = came.properties.getHeaders();
        assertEquals("kept", headers.get("own").toString());
        assertNotNull(headers.get(Outgoing.DUE_HEADER));
        assertFalse("a".equals(String.valueOf(headers.get("x-last-death-queue"))));
      }
    }
  }

  @Test
  void aMessageThatNoQueueTakesIsAnError() throws Exception {
    try (DelayPublisher publisher = new DelayPublisher(connection, network("BARE"))) {
      MessageReturnedException thrown =
          assertThrows(MessageReturnedException.class, () -> publisher.publish("nobody", new byte[0], Duration.ZERO));
      assertEquals("nobody", thrown.destination());
      assertTrue(thrown.getMessage().contains("nobody"));
      // Each knows of its own message, also where several have one id.
      for (String id : new String[] {null, "order 7"}) {
        PublishOptions options =
            PublishOptions.DEFAULT.withProperties(new BasicProperties.Builder().messageId(id).build());
        List<Callable<Receipt>> calls = new ArrayList<>();
        for (int index = 0; index < 200; index++) {
          String destination = index % 2 == 0 ? "nobody" : "billing-bare";
          calls.add(() -> publisher.publish(destination, new byte[0], Duration.ZERO, options));
        }
        List<Object> ends = sideBySide(calls);
        for (int index = 0; index < ends.size(); index++) {
          Class<?> expected = index % 2 == 0 ? MessageReturnedException.class : Receipt.class;
          assertInstanceOf(expected, ends.get(index));
        }
      }
    }
  }

  @Test
  void whatWouldBeEarlyLostOrCopiedIsRefusedBeforeItIsSent() throws Exception {
    DelayNetwork parked = network("PARKED");
    try (DelayPublisher publisher = new DelayPublisher(connection, parked)) {
      Map<String, BasicProperties.Builder> refused = new HashMap<>();
      refused.put("properties.expiration", new BasicProperties.Builder().expiration("5"));
      refused.put("properties.deliveryMode", new BasicProperties.Builder().deliveryMode(1));
      refused.put("properties.headers.CC", new BasicProperties.Builder().headers(Map.of("CC", List.of("a"))));
      refused.put("properties.headers.BCC", new BasicProperties.Builder().headers(Map.of("BCC", List.of("a"))));
      refused.put("properties", new BasicProperties.Builder().correlationId("x".repeat(256)));
      refused.forEach(
          (argument, properties) -> {
            PublishOptions options = PublishOptions.DEFAULT.withProperties(properties.build());
            DelayException thrown =
                assertThrows(DelayException.class, () -> publisher.publish("billing", new byte[0], Duration.ZERO, options));
            assertEquals(argument, thrown.argument());
          });
      List<Map<String, Object>> unwritable =
          List.of(
              Map.of("own", new Object()),
              Map.of("own", "x".repeat(300_000)),
              Map.of("x".repeat(256), 1),
              Map.of("own", List.of(Map.of("ä".repeat(128), 1))));
      for (Map<String, Object> headers : unwritable) {
        PublishOptions options = PublishOptions.DEFAULT.withProperties(new BasicProperties.Builder().headers(headers).build());
        DelayException thrown =
            assertThrows(DelayException.class, () -> publisher.publish("billing", new byte[0], Duration.ZERO, options));
        assertEquals("properties", thrown.argument());
      }
      Map<String, Object> nested = Map.of("a", List.of(1, Map.of("b", new Object[] {"c", Float.NEGATIVE_INFINITY})));
      for (Object value : List.of(Double.NaN, Float.NaN, Double.POSITIVE_INFINITY, List.of(Double.NaN), nested)) {
        PublishOptions options =
            PublishOptions.DEFAULT.withProperties(new BasicProperties.Builder().headers(Map.of("ratio", value)).build());
        DelayException thrown =
            assertThrows(DelayException.class, () -> publisher.publish("billing", new byte[0], Duration.ZERO, options));
        assertEquals("properties.headers.ratio: numbers must be finite", thrown.getMessage());
      }
      PublishOptions negative = PublishOptions.DEFAULT.withTolerance(-1);
      Map<Callable<?>, String> calls = new HashMap<>();
      calls.put(() -> publisher.publish("billing", new byte[0], Duration.ZERO, negative), "tolerance");
      calls.put(() -> publisher.publish("billing", new byte[0], parked.maximumDelay().plusNanos(1)), "delay");
      calls.put(() -> publisher.publish("billing", new byte[0], (Duration) null), "delay");
      calls.put(() -> publisher.publish("billing", new byte[0], (Instant) null), "due");
      calls.put(() -> publisher.publish("billing", null, Duration.ZERO), "body");
      calls.put(() -> new DelayPublisher(connection, parked, Double.NaN), "tolerance");
      for (Map.Entry<Callable<?>, String> call : calls.entrySet()) {
        assertEquals(call.getValue(), assertThrows(DelayException.class, () -> call.getKey().call()).argument());
      }
      // The publisher still works, and nothing of the above was sent.
      publisher.publish("billing", bytes("last"), Duration.ZERO);
      assertTrue(receive(1).containsKey("last"));
    }
  }

  @Test
  void aToleranceIsTheDefaultOfEachMessage() throws Exception {
    Duration delay = Duration.ofSeconds(1_000_003);
    try (DelayPublisher publisher = new DelayPublisher(connection, network("NSERVICEBUS"), 0.1)) {
      assertTrue(publisher.publish("billing", new byte[0], delay).delay().compareTo(delay) > 0);
      assertEquals(delay, publisher.publish("billing", new byte[0], delay, PublishOptions.DEFAULT.withTolerance(0)).delay());
    }
  }

  @Test
  void aClosedChannelIsNoRefusalByTheBroker() throws Exception {
    DelayNetwork absent = DelayNetwork.parse(System.getenv("PARKED_NETWORK").replace("parked", "absent"));
    try (DelayPublisher publisher = new DelayPublisher(connection, absent)) {
      Callable<Receipt> call = () -> publisher.publish("billing", new byte[0], Duration.ZERO);
      for (Object end : sideBySide(Collections.nCopies(20, call))) {
        IOException thrown = assertInstanceOf(IOException.class, end);
        assertFalse(thrown instanceof PublishException);
        assertInstanceOf(ShutdownSignalException.class, thrown.getCause());
      }
    }
  }

  @Test
  void sendsWhatNServiceBusReads() throws Exception {
    // Of the shortest level; the header's type is what counts.
    try (DelayPublisher publisher = new DelayPublisher(connection, network("NSERVICEBUS"))) {
      BasicProperties old = new BasicProperties.Builder().headers(Map.of(Outgoing.NSERVICEBUS_SENT, "old")).build();
      publisher.publish("billing", bytes("x"), Duration.ofSeconds(1), PublishOptions.DEFAULT.withProperties(old));
    }
    Map<String, Object> headers = receive(1).get("x").properties.getHeaders();
    assertEquals(1, headers.get(Outgoing.NSERVICEBUS_DELAY));
    assertTrue(
        headers.get(Outgoing.NSERVICEBUS_SENT).toString().matches("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d:\\d{6} Z"));
  }
}
