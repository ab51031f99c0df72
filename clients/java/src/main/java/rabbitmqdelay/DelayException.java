package rabbitmqdelay;

/** An argument that is not allowed; nothing was sent. */
public final class DelayException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;
  private final String argument;

  DelayException(String argument, String reason) {
    super(argument + ": " + reason);
    this.argument = argument;
  }

  /** What it is about, as {@code delay}, {@code destination} or {@code properties.expiration}. */
  public String argument() {
    return argument;
  }
}
