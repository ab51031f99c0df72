package rabbitmqdelay;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/**
 * Interval queues on a broker: some exact delays, after which a message goes to the queue whose name is its routing key. They never change,
 * so threads may share them.
 */
public final class RetryIntervals {
  private final String prefix;
  private final String returnExchange;
  private final String queueType;
  private final boolean isAtLeastOnce;
  private final List<Duration> intervals;

  private RetryIntervals(Object given) {
    Descriptor read = new Descriptor(given, "retry-intervals", "retryIntervals", 1);
    prefix = read.entity("prefix");
    returnExchange = prefix + "-return";
    if (!read.text("returnExchange").equals(returnExchange)) {
      throw read.refuse("returnExchange", "for this prefix it must be " + returnExchange);
    }
    queueType = read.oneOf("queueType", "quorum", "classic");
    isAtLeastOnce = read.flag("atLeastOnce", queueType.equals("quorum"));
    if (isAtLeastOnce && queueType.equals("classic")) throw read.refuse("atLeastOnce", "classic queues can't");
    List<Long> intervalsMs = read.integers("intervalsMs", 1, Descriptor.LONGEST_TTL_MS);
    if (new HashSet<>(intervalsMs).size() < intervalsMs.size()) throw read.refuse("intervalsMs", "each interval stands once");
    intervals = intervalsMs.stream().sorted().map(Duration::ofMillis).toList();
    for (String name : List.of(returnExchange, exchange(intervals.get(intervals.size() - 1)))) {
      String reason = Names.whyNoEntity(name, Names.SHORT_STRING_BYTES);
      if (reason != null) throw read.refuse("prefix", "of " + name + ", " + reason);
    }
  }

  /**
   * Reads a descriptor of kind {@code retry-intervals}, as its stack exports it.
   *
   * @throws DescriptorException for another kind or version, or a part that is missing or malformed
   */
  public static RetryIntervals parse(String json) {
    return new RetryIntervals(Descriptor.parse(json, "retryIntervals"));
  }

  /**
   * Takes a descriptor that another library has parsed, to maps, lists, texts, numbers and booleans.
   *
   * @throws DescriptorException as for {@link #parse}
   */
  public static RetryIntervals of(Map<String, ?> descriptor) {
    return new RetryIntervals(descriptor);
  }

  /** What all names start with, e.g. {@code mt-delay}. */
  public String prefix() {
    return prefix;
  }

  /** The direct exchange to which each endpoint's queue is bound by its own name. */
  public String returnExchange() {
    return returnExchange;
  }

  /** {@code quorum} or {@code classic}. */
  public String queueType() {
    return queueType;
  }

  /** Whether a message leaves an interval only when the next queue has confirmed it. */
  public boolean isAtLeastOnce() {
    return isAtLeastOnce;
  }

  /** The delays that there are, ascending. */
  public List<Duration> intervals() {
    return intervals;
  }

  /**
   * The exchange to publish to, under the queue's name as the routing key.
   *
   * @throws DelayException naming {@code delay} for one that there is no queue for; nothing is rounded
   */
  public String exchangeOf(Duration delay) {
    if (delay == null || !intervals.contains(delay)) {
      throw new DelayException("delay", delay + " is not allowed; there are queues for " + intervals);
    }
    return exchange(delay);
  }

  private String exchange(Duration interval) {
    return prefix + "-" + interval.toMillis();
  }
}
