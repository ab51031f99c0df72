package rabbitmqdelay;

import com.rabbitmq.client.AMQP;
import java.time.Duration;

/**
 * How one message is published.
 *
 * @param properties the message's properties, which are copied; null for none
 * @param tolerance how much longer the delay may be for fewer hops, as a fraction of it; null for the publisher's own
 * @param timeout how long to wait for the confirm, and before that for the messages before it and for a broker that blocks the connection;
 *     null for as long as it takes. It can't end a write that is under way when the broker stops reading, and closing or aborting the
 *     connection can't either, because amqp-client waits for the write first. Such a write ends when the broker reads on, or when its socket
 *     is closed.
 */
public record PublishOptions(AMQP.BasicProperties properties, Double tolerance, Duration timeout) {
  /** No properties, the publisher's own tolerance, and no timeout. */
  public static final PublishOptions DEFAULT = new PublishOptions(null, null, null);

  /** The same with other properties. */
  public PublishOptions withProperties(AMQP.BasicProperties properties) {
    return new PublishOptions(properties, tolerance, timeout);
  }

  /** The same with another tolerance, e.g. 0.01 for one percent. */
  public PublishOptions withTolerance(double tolerance) {
    return new PublishOptions(properties, tolerance, timeout);
  }

  /** The same with another timeout. */
  public PublishOptions withTimeout(Duration timeout) {
    return new PublishOptions(properties, tolerance, timeout);
  }
}
