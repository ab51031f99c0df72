package rabbitmqdelay;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AlreadyClosedException;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Return;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Publishes through a channel of its own; each message is persistent, mandatory and confirmed. Any number of threads may publish at once.
 *
 * <p>After an {@link IOException} that is no {@link PublishException}, a {@link TimeoutException} or an interrupt, the message may or may
 * not have been taken. On a connection that recovers, as amqp-client's do by default, the publisher works again once that is there. Make a
 * new one when the broker closed the channel, e.g. because the exchange does not exist.
 */
public final class DelayPublisher implements AutoCloseable {
  private enum End {
    ACKED,
    NACKED,
    RETURNED
  }

  /** A message that was sent, and not yet confirmed. */
  private static final class InFlight {
    final String messageId;
    final CompletableFuture<End> end = new CompletableFuture<>();
    boolean isReturned;

    InFlight(String messageId) {
      this.messageId = messageId;
    }
  }

  private final DelayNetwork network;
  private final double tolerance;
  private final Channel channel;
  private final Object sending = new Object();
  private final ConcurrentSkipListMap<Long, InFlight> byNumber = new ConcurrentSkipListMap<>();
  private final Map<String, InFlight> byId = new ConcurrentHashMap<>();

  /** Opens a channel on the connection. */
  public DelayPublisher(Connection connection, DelayNetwork network) throws IOException {
    this(connection, network, 0);
  }

  /**
   * Opens a channel on the connection.
   *
   * @param tolerance the default of each message
   * @throws DelayException for a tolerance that can't be
   */
  public DelayPublisher(Connection connection, DelayNetwork network, double tolerance) throws IOException {
    network.encode(Duration.ZERO, "destination", tolerance);
    this.network = network;
    this.tolerance = tolerance;
    this.channel = connection.createChannel();
    if (channel == null) throw new IOException("the connection has no channel left");
    // All of them are called by the connection's one thread that reads, in the order of what the broker says.
    channel.addReturnListener((Return returned) -> onReturn(returned.getProperties().getMessageId()));
    channel.addConfirmListener(
        (number, isMultiple) -> onConfirm(number, isMultiple, End.ACKED),
        (number, isMultiple) -> onConfirm(number, isMultiple, End.NACKED));
    channel.addShutdownListener(this::onShutdown);
    channel.confirmSelect();
  }

  /** As {@link #publish(String, byte[], Duration, PublishOptions)}, with none. */
  public Receipt publish(String destination, byte[] body, Duration delay)
      throws IOException, InterruptedException, TimeoutException {
    return publish(destination, body, delay, PublishOptions.DEFAULT);
  }

  /** As {@link #publish(String, byte[], Instant, PublishOptions)}, with none. */
  public Receipt publish(String destination, byte[] body, Instant due)
      throws IOException, InterruptedException, TimeoutException {
    return publish(destination, body, due, PublishOptions.DEFAULT);
  }

  /**
   * Publishes a message that arrives after a delay, and waits for the broker's confirm.
   *
   * @param delay is rounded up to the network's unit, never early; a negative one is none
   * @param options its properties are copied; a missing message id is made up
   * @throws DelayException before anything is sent
   * @throws MessageReturnedException if no queue takes the message
   * @throws MessageNackedException if the broker refuses it
   * @throws IOException if the channel or the connection is closed, or closes before the confirm
   * @throws TimeoutException if the options have a timeout, and the confirm did not come by then
   */
  public Receipt publish(String destination, byte[] body, Duration delay, PublishOptions options)
      throws IOException, InterruptedException, TimeoutException {
    return publish(destination, body, delay, Instant.now(), options);
  }

  /** Publishes a message that arrives at a time; one in the past is no delay. For all else, see the one with a delay. */
  public Receipt publish(String destination, byte[] body, Instant due, PublishOptions options)
      throws IOException, InterruptedException, TimeoutException {
    if (due == null) throw new DelayException("due", "null is not allowed; it must be an instant");
    Instant now = Instant.now();
    return publish(destination, body, Duration.between(now, due), now, options);
  }

  private Receipt publish(String destination, byte[] body, Duration delay, Instant now, PublishOptions options)
      throws IOException, InterruptedException, TimeoutException {
    AMQP.BasicProperties given = options.properties() == null ? new AMQP.BasicProperties() : options.properties();
    Outgoing.check(given);
    if (body == null) throw new DelayException("body", "null is not allowed");
    EncodedDelay encoded = network.encode(delay, destination, options.tolerance() == null ? tolerance : options.tolerance());
    String id = given.getMessageId();
    if (id == null || id.isEmpty()) id = UUID.randomUUID().toString();
    AMQP.BasicProperties properties =
        given.builder()
            .deliveryMode(2)
            .messageId(id)
            .headers(Outgoing.headers(network, given.getHeaders(), encoded.delay(), now))
            .build();
    Outgoing.checkSize(properties, channel.getConnection().getFrameMax());
    long deadline = options.timeout() == null ? Long.MAX_VALUE : System.nanoTime() + options.timeout().toNanos();
    InFlight own = begin(id, deadline);
    send(encoded, properties, body, own);
    End end;
    try {
      end = await(own, deadline);
    } catch (ExecutionException e) {
      throw new IOException("the channel closed before the confirm of the message for " + destination, e.getCause());
    }
    return switch (end) {
      case ACKED -> new Receipt(encoded.exchange(), encoded.routingKey(), encoded.delay(), now.plus(encoded.delay()), id);
      case NACKED -> throw new MessageNackedException(destination, encoded);
      case RETURNED -> throw new MessageReturnedException(destination, encoded);
    };
  }

  /** Waits for its turn: the broker tells by its id which message it returns, so of two under one id it could be the wrong one. */
  private InFlight begin(String id, long deadline) throws InterruptedException, TimeoutException {
    InFlight own = new InFlight(id);
    for (InFlight before = byId.putIfAbsent(id, own); before != null; before = byId.putIfAbsent(id, own)) {
      try {
        await(before, deadline);
      } catch (ExecutionException e) {
        // Its own caller learns of it.
      }
    }
    return own;
  }

  private static End await(InFlight message, long deadline) throws InterruptedException, TimeoutException, ExecutionException {
    if (deadline == Long.MAX_VALUE) return message.end.get();
    return message.end.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
  }

  private void send(EncodedDelay encoded, AMQP.BasicProperties properties, byte[] body, InFlight own) throws IOException {
    long number = -1;
    try {
      synchronized (sending) {
        number = channel.getNextPublishSeqNo();
        byNumber.put(number, own);
        channel.basicPublish(encoded.exchange(), encoded.routingKey(), true, properties, body);
        if (channel.getNextPublishSeqNo() != number + 1) {
          throw new IOException("the connection was recovered while the message was sent");
        }
      }
    } catch (AlreadyClosedException e) {
      throw lost(number, own, new IOException("the channel is closed", e));
    } catch (IOException e) {
      throw lost(number, own, e);
    } catch (RuntimeException e) {
      throw lost(number, own, e);
    }
  }

  private <E extends Exception> E lost(long number, InFlight own, E reason) {
    byNumber.remove(number, own);
    byId.remove(own.messageId, own);
    own.end.completeExceptionally(reason);
    return reason;
  }

  private void onReturn(String messageId) {
    InFlight own = messageId == null ? null : byId.get(messageId);
    if (own != null) own.isReturned = true;
  }

  private void onConfirm(long number, boolean isMultiple, End end) {
    long first = isMultiple ? 0 : number;
    byNumber.subMap(first, true, number, true).forEach((each, own) -> {
      if (!byNumber.remove(each, own)) return;
      // The next one of its id may begin.
      byId.remove(own.messageId, own);
      own.end.complete(own.isReturned ? End.RETURNED : end);
    });
  }

  private void onShutdown(ShutdownSignalException reason) {
    byNumber.forEach((number, own) -> lost(number, own, reason));
  }

  /** Closes the channel, not the connection. What waits for its confirm may or may not have been taken. */
  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } catch (AlreadyClosedException e) {
      // Closed is what it should be.
    } catch (TimeoutException e) {
      throw new IOException("the broker did not answer in time", e);
    }
  }
}
