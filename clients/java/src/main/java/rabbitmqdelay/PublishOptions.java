package rabbitmqdelay;

import com.rabbitmq.client.AMQP;
import java.time.Duration;

/**
 * How one message is published.
 *
 * @param properties the message's properties, which are copied; null for none
 * @param tolerance how much longer the delay may be for fewer hops, as a fraction of it; null for the publisher's own
 * @param timeout how long to wait for the confirm; null for as long as it takes
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
