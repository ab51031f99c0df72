package rabbitmqdelay;

/** A descriptor that is not one of its kind. */
public final class DescriptorException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;
  private final String property;

  DescriptorException(String property, String reason) {
    super(property + ": " + reason);
    this.property = property;
  }

  /** The part that it is about, as {@code network.radix}. */
  public String property() {
    return property;
  }
}
