package rabbitmqdelay;

import java.io.IOException;

/** The broker did not take a message that was sent to it. */
public abstract sealed class PublishException extends IOException permits MessageReturnedException, MessageNackedException {
  private static final long serialVersionUID = 1;
  private final String destination;
  private final String exchange;
  private final String routingKey;

  PublishException(String reason, String destination, EncodedDelay encoded) {
    super(reason + " for " + destination + " by exchange " + encoded.exchange());
    this.destination = destination;
    this.exchange = encoded.exchange();
    this.routingKey = encoded.routingKey();
  }

  /** The destination of the message. */
  public String destination() {
    return destination;
  }

  /** The exchange that the message was published to. */
  public String exchange() {
    return exchange;
  }

  /** The routing key of the message. */
  public String routingKey() {
    return routingKey;
  }
}
