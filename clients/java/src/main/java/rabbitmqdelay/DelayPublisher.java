package rabbitmqdelay;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AlreadyClosedException;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Return;
import com.rabbitmq.client.ShutdownSignalException;
import com.rabbitmq.client.impl.recovery.AutorecoveringChannel;
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
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Publishes through a channel of its own; each message is persistent, mandatory and confirmed. Any number of threads may publish at once.
 *
 * <p>After an {@link IOException} that is no {@link PublishException}, a {@link TimeoutException} or an interrupt, the message may or may
 * not have been taken. After the channel has closed, make a new publisher, also on a connection that recovers, as amqp-client's do by
 * default: a channel that it recovers takes messages before it asks for confirms again, and then takes each confirm for another message's.
 * A publisher whose channel has closed publishes nothing more.
 */
public final class DelayPublisher implements AutoCloseable {
  private enum End {
    ACKED,
    NACKED,
    RETURNED
  }

  /** A message as it is written at a time. */
  private record Message(EncodedDelay encoded, AMQP.BasicProperties properties, Instant at) {}

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
  /** As the connection gave it, which recovers it. */
  private final Channel opened;

  /** The one that it stands for, which ends with its connection. */
  private final Channel channel;

  private final Turn turn;
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
    this.opened = connection.createChannel();
    if (opened == null) throw new IOException("the connection has no channel left");
    this.channel = opened instanceof AutorecoveringChannel recovering ? recovering.getDelegate() : opened;
    // All of them are called by the connection's one thread that reads, in the order of what the broker says.
    channel.addReturnListener((Return returned) -> onReturn(returned.getProperties().getMessageId()));
    channel.addConfirmListener(
        (number, isMultiple) -> onConfirm(number, isMultiple, End.ACKED),
        (number, isMultiple) -> onConfirm(number, isMultiple, End.NACKED));
    channel.addShutdownListener(this::onShutdown);
    this.turn = new Turn(connection, channel);
    try {
      channel.confirmSelect();
    } catch (IOException | RuntimeException e) {
      turn.close();
      throw e;
    }
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
   * @param delay is rounded up to the network's unit, never early; a negative one is none. It counts from when the message is written
   * @param options its properties are copied; a missing message id is made up
   * @throws DelayException before anything is sent
   * @throws MessageReturnedException if no queue takes the message
   * @throws MessageNackedException if the broker refuses it
   * @throws IOException if the channel or the connection is closed, or closes before the confirm
   * @throws TimeoutException if the options have a timeout, and the confirm did not come by then; its message tells where nothing was sent
   */
  public Receipt publish(String destination, byte[] body, Duration delay, PublishOptions options)
      throws IOException, InterruptedException, TimeoutException {
    return publish(destination, body, now -> delay, options);
  }

  /** Publishes a message that arrives at a time; one in the past is no delay. For all else, see the one with a delay. */
  public Receipt publish(String destination, byte[] body, Instant due, PublishOptions options)
      throws IOException, InterruptedException, TimeoutException {
    if (due == null) throw new DelayException("due", "null is not allowed; it must be an instant");
    return publish(destination, body, now -> Duration.between(now, due), options);
  }

  private Receipt publish(String destination, byte[] body, Function<Instant, Duration> delayAt, PublishOptions options)
      throws IOException, InterruptedException, TimeoutException {
    AMQP.BasicProperties given = options.properties() == null ? new AMQP.BasicProperties() : options.properties();
    Outgoing.check(given);
    if (body == null) throw new DelayException("body", "null is not allowed");
    double ownTolerance = options.tolerance() == null ? tolerance : options.tolerance();
    String givenId = given.getMessageId();
    String id = givenId == null || givenId.isEmpty() ? UUID.randomUUID().toString() : givenId;
    Supplier<Message> make =
        () -> {
          Instant now = Instant.now();
          EncodedDelay encoded = network.encode(delayAt.apply(now), destination, ownTolerance);
          Map<String, Object> headers = Outgoing.headers(network, given.getHeaders(), encoded.delay(), now);
          return new Message(encoded, given.builder().deliveryMode(2).messageId(id).headers(headers).build(), now);
        };
    Outgoing.checkSize(make.get().properties, channel.getConnection().getFrameMax());
    Deadline deadline = Deadline.after(options.timeout());
    InFlight own = begin(id, deadline);
    Message sent = send(make, body, own, deadline);
    EncodedDelay encoded = sent.encoded;
    End end;
    try {
      end = await(own, deadline);
    } catch (ExecutionException e) {
      throw new IOException("the channel closed before the confirm of the message for " + destination, e.getCause());
    } catch (TimeoutException e) {
      throw new TimeoutException("no confirm came in time; the message may have been taken");
    }
    return switch (end) {
      case ACKED -> new Receipt(encoded.exchange(), encoded.routingKey(), encoded.delay(), sent.at.plus(encoded.delay()), id);
      case NACKED -> throw new MessageNackedException(destination, encoded);
      case RETURNED -> throw new MessageReturnedException(destination, encoded);
    };
  }

  /** Waits for its turn: the broker tells by its id which message it returns, so of two under one id it could be the wrong one. */
  private InFlight begin(String id, Deadline deadline) throws InterruptedException, TimeoutException {
    InFlight own = new InFlight(id);
    for (InFlight before = byId.putIfAbsent(id, own); before != null; before = byId.putIfAbsent(id, own)) {
      try {
        await(before, deadline);
      } catch (ExecutionException e) {
        // Its own caller learns of it.
      } catch (TimeoutException e) {
        throw new TimeoutException("nothing was sent: the message before with the same id was not confirmed in time");
      }
    }
    return own;
  }

  private static End await(InFlight message, Deadline deadline) throws InterruptedException, TimeoutException, ExecutionException {
    return message.end.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
  }

  private Message send(Supplier<Message> make, byte[] body, InFlight own, Deadline deadline)
      throws IOException, InterruptedException, TimeoutException {
    long number = -1;
    try {
      turn.take(deadline);
      try {
        // Made anew, because the delay counts from now: what had to wait for its turn shall not be late for it.
        Message message = make.get();
        EncodedDelay encoded = message.encoded;
        number = channel.getNextPublishSeqNo();
        byNumber.put(number, own);
        channel.basicPublish(encoded.exchange(), encoded.routingKey(), true, message.properties, body);
        return message;
      } finally {
        turn.giveBack();
      }
    } catch (AlreadyClosedException e) {
      IOException reason = new IOException("the channel is closed", e);
      lost(number, own, reason);
      throw reason;
    } catch (IOException | InterruptedException | TimeoutException | RuntimeException e) {
      lost(number, own, e);
      throw e;
    }
  }

  private void lost(long number, InFlight own, Exception reason) {
    byNumber.remove(number, own);
    byId.remove(own.messageId, own);
    own.end.completeExceptionally(reason);
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
    turn.close();
    try {
      opened.close();
    } catch (AlreadyClosedException e) {
      // Closed is what it should be.
    } catch (TimeoutException e) {
      throw new IOException("the broker did not answer in time", e);
    }
  }
}
