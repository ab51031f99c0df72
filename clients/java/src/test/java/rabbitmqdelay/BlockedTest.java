package rabbitmqdelay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.AlreadyClosedException;
import com.rabbitmq.client.BlockedListener;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConfirmCallback;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownListener;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Publishes over a connection that stands in for one to a broker, which takes no messages for a while. */
@Timeout(30)
class BlockedTest {
  private static final Duration SHORT = Duration.ofMillis(200);

  private final List<String> sent = new CopyOnWriteArrayList<>();
  private final List<BlockedListener> blockedListeners = new CopyOnWriteArrayList<>();
  private final List<ShutdownListener> shutdownListeners = new CopyOnWriteArrayList<>();
  private final ShutdownSignalException reason = new ShutdownSignalException(true, false, null, null);
  private final Connection connection = stub(Connection.class, this::onConnection);
  private final Channel channel = stub(Channel.class, this::onChannel);
  private volatile ConfirmCallback onAcknowledged;
  private volatile CountDownLatch stopsReading = new CountDownLatch(0);
  private volatile boolean isOpen = true;
  private DelayPublisher publisher;

  private interface Answer {
    Object to(String method, Object[] arguments) throws Exception;
  }

  private static <T> T stub(Class<T> type, Answer answer) {
    Class<?>[] types = {type};
    ClassLoader loader = BlockedTest.class.getClassLoader();
    return type.cast(Proxy.newProxyInstance(loader, types, (self, method, arguments) -> answer.to(method.getName(), arguments)));
  }

  private Object onConnection(String method, Object[] arguments) {
    switch (method) {
      case "addBlockedListener" -> blockedListeners.add((BlockedListener) arguments[0]);
      default -> {}
    }
    return switch (method) {
      case "createChannel" -> channel;
      case "getFrameMax" -> 131_072;
      case "removeBlockedListener" -> blockedListeners.remove(arguments[0]);
      default -> null;
    };
  }

  private Object onChannel(String method, Object[] arguments) throws Exception {
    switch (method) {
      case "addShutdownListener" -> shutdownListeners.add((ShutdownListener) arguments[0]);
      case "addConfirmListener" -> onAcknowledged = (ConfirmCallback) arguments[0];
      case "basicPublish" -> write((BasicProperties) arguments[3]);
      default -> {}
    }
    return switch (method) {
      case "isOpen" -> isOpen;
      case "getConnection" -> connection;
      case "getNextPublishSeqNo" -> sent.size() + 1L;
      default -> null;
    };
  }

  private void write(BasicProperties properties) throws Exception {
    if (!isOpen) throw new AlreadyClosedException(reason);
    stopsReading.await();
    sent.add(properties.getMessageId());
    onAcknowledged.handle(sent.size(), false);
  }

  private void block() throws IOException {
    for (BlockedListener listener : blockedListeners) listener.handleBlocked("low on memory");
  }

  private void unblock() throws IOException {
    for (BlockedListener listener : blockedListeners) listener.handleUnblocked();
  }

  private void shutDown() {
    isOpen = false;
    shutdownListeners.forEach(listener -> listener.shutdownCompleted(reason));
  }

  private Receipt publish(String id, Duration timeout) throws Exception {
    PublishOptions options = new PublishOptions(new BasicProperties.Builder().messageId(id).build(), null, timeout);
    return publisher.publish("Sales", new byte[0], Duration.ofSeconds(1), options);
  }

  private CompletableFuture<Receipt> publishBeside(String id, Duration timeout) {
    CompletableFuture<Receipt> end = new CompletableFuture<>();
    new Thread(
            () -> {
              try {
                end.complete(publish(id, timeout));
              } catch (Exception e) {
                end.completeExceptionally(e);
              }
            })
        .start();
    return end;
  }

  private static void assertStillWaits(CompletableFuture<Receipt> end) {
    assertThrows(TimeoutException.class, () -> end.get(SHORT.toMillis(), TimeUnit.MILLISECONDS));
  }

  private void assertNothingSent(Duration timeout) {
    int before = sent.size();
    TimeoutException thrown = assertThrows(TimeoutException.class, () -> publish("late", timeout));
    assertTrue(thrown.getMessage().startsWith("nothing was sent"), thrown.getMessage());
    assertEquals(before, sent.size());
  }

  @BeforeEach
  void open() throws IOException {
    publisher = new DelayPublisher(connection, Vectors.NETWORKS.get(0));
  }

  @AfterEach
  void close() throws IOException {
    publisher.close();
    assertEquals(List.of(), blockedListeners);
  }

  @Test
  void aTimeoutEndsTheWaitForABlockedConnection() throws Exception {
    block();
    block();
    assertNothingSent(SHORT);
    assertNothingSent(Duration.ZERO);
    unblock();
    assertNothingSent(Duration.ofSeconds(Long.MIN_VALUE));
    assertEquals("late", publish("late", Duration.ofSeconds(Long.MAX_VALUE)).messageId());
  }

  @Test
  void withoutATimeoutItWaitsUntilTheConnectionIsUnblocked() throws Exception {
    block();
    CompletableFuture<Receipt> end = publishBeside("patient", null);
    CompletableFuture<Receipt> sameId = publishBeside("patient", null);
    assertStillWaits(end);
    assertStillWaits(sameId);
    Instant unblocked = Instant.now();
    unblock();
    assertEquals("patient", end.get().messageId());
    assertFalse(end.get().dueAt().isBefore(unblocked.plusSeconds(1)), "the delay begins when the message is written");
    assertEquals("patient", sameId.get().messageId());
  }

  @Test
  void aConnectionThatClosesEndsTheWait() throws Exception {
    block();
    CompletableFuture<Receipt> end = publishBeside("lost", null);
    assertStillWaits(end);
    shutDown();
    assertInstanceOf(IOException.class, assertThrows(ExecutionException.class, end::get).getCause());
    assertThrows(IOException.class, () -> publish("lost", null));
  }

  @Test
  void aPublisherThatIsClosedEndsTheWait() throws Exception {
    block();
    CompletableFuture<Receipt> end = publishBeside("closed", null);
    assertStillWaits(end);
    publisher.close();
    assertInstanceOf(IOException.class, assertThrows(ExecutionException.class, end::get).getCause());
    assertEquals(List.of(), sent);
  }

  @Test
  void aTimeoutEndsTheWaitForAWriteThatTheBrokerDoesNotRead() throws Exception {
    stopsReading = new CountDownLatch(1);
    CompletableFuture<Receipt> first = publishBeside("first", SHORT);
    assertStillWaits(first);
    assertNothingSent(SHORT);
    CompletableFuture<Receipt> behind = publishBeside("behind", null);
    assertStillWaits(behind);
    // What the broker says is heard all the same.
    block();
    assertStillWaits(behind);
    stopsReading.countDown();
    assertEquals("first", first.get().messageId());
    assertStillWaits(behind);
    assertFalse(sent.contains("behind"));
    unblock();
    assertEquals("behind", behind.get().messageId());
  }

  @Test
  void anInterruptedWaitHoldsUpNoOther() throws Exception {
    block();
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> publish("again", null));
    unblock();
    assertEquals("again", publish("again", null).messageId());
  }
}
