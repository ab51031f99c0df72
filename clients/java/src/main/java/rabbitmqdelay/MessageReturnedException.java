package rabbitmqdelay;

/** No queue takes the message: nothing is bound. (Where the exchange is not there, an exception of amqp-client says so.) */
public final class MessageReturnedException extends PublishException {
  private static final long serialVersionUID = 1;

  MessageReturnedException(String destination, EncodedDelay encoded) {
    super("no queue takes the message", destination, encoded);
  }
}
