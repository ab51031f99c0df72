package rabbitmqdelay;

/** The broker refused the message, e.g. because a queue is full. */
public final class MessageNackedException extends PublishException {
  private static final long serialVersionUID = 1;

  MessageNackedException(String destination, EncodedDelay encoded) {
    super("the broker refused the message", destination, encoded);
  }
}
