package rabbitmqdelay;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/** A delay network on a broker: any delay up to the longest, in multiples of its unit. It never changes, so threads may share it. */
public final class DelayNetwork {
  private static final String DIGITS = "0123456789abcdef";

  private final String preset;
  private final String queueType;
  private final String matching;
  private final int radix;
  private final int levels;
  private final long unitMs;
  private final long maximumUnits;
  private final Duration maximumDelay;
  private final String prefix;
  private final String deliveryExchange;
  private final String bindingExchange;
  private final List<String> entryExchanges;
  private final String parkingExchange;
  private final String parkingQueue;
  private final String vhost;

  private DelayNetwork(Object given) {
    Descriptor read = new Descriptor(given, "delay-network", "network", 2);
    preset = read.oneOf("preset", "nservicebus", "nservicebus-v1", "celery", "custom");
    queueType = read.oneOf("queueType", "quorum", "classic");
    matching = read.oneOf("matching", "exact", "suffix", "enforced");
    boolean isEnforced = matching.equals("enforced");
    boolean isVersion2 = read.integer("version", 1, 2) == 2;
    if (isEnforced && !isNServiceBus()) throw read.refuse("matching", "it is for the presets nservicebus and nservicebus-v1");
    if (isEnforced && !isVersion2) throw read.refuse("version", "a network whose matching is enforced has version 2");
    radix = (int) read.integer("radix", 2, 16);
    if (!List.of(2, 4, 8, 16).contains(radix)) throw read.refuse("radix", "it must be one of 2, 4, 8, 16");
    unitMs = read.integer("unitMs", 1, Descriptor.LONGEST_TTL_MS);
    // A routing key needs two bytes for each level and at least one for the destination.
    levels = (int) read.integer("levels", 1, (Names.SHORT_STRING_BYTES - 1) / 2);
    long states = 1;
    for (int level = 0; level < levels; level++) {
      if ((radix - 1) * states > Descriptor.LONGEST_TTL_MS / unitMs) {
        throw read.refuse("levels", "with this radix and unitMs, a queue's TTL would be over the broker's limit");
      }
      states *= radix;
    }
    maximumUnits = states - 1;
    maximumDelay = Duration.ofMillis(maximumUnits * unitMs);
    if (read.integer("maximumDelayMs", 0, 1L << 53) != maximumDelay.toMillis()) {
      throw read.refuse("maximumDelayMs", "for this shape it must be " + maximumDelay.toMillis());
    }
    prefix = read.entity("prefix");
    deliveryExchange = read.entity("deliveryExchange");
    bindingExchange = isEnforced ? prefix + "-exact" : deliveryExchange;
    if (isVersion2 && !read.text("bindingExchange").equals(bindingExchange)) {
      throw read.refuse("bindingExchange", "for this network it must be " + bindingExchange);
    }
    entryExchanges = IntStream.range(0, levels).mapToObj(this::levelExchange).toList();
    if (!read.texts("entryExchanges").equals(entryExchanges)) {
      throw read.refuse("entryExchanges", "it must be the " + levels + " exchanges " + entryExchanges.get(0) + " …");
    }
    String last = entryExchanges.get(levels - 1);
    String longest = preset.equals("custom") ? last + "-" + (radix - 1) : last;
    String reason = Names.whyNoEntity(longest, Names.SHORT_STRING_BYTES);
    if (reason != null) throw read.refuse("prefix", "of " + longest + ", " + reason);
    parkingExchange = read.optionalEntity("parkingExchange");
    parkingQueue = read.optionalEntity("parkingQueue");
    if ((parkingExchange == null) != (parkingQueue == null)) {
      throw read.refuse("parkingQueue", "parkingExchange and parkingQueue go together");
    }
    vhost = isVersion2 ? read.text("vhost") : null;
    if (Objects.equals(vhost, "")) throw read.refuse("vhost", "it must be a non-empty text");
  }

  /**
   * Reads a descriptor of kind {@code delay-network}, version 1 or 2, as its stack exports it.
   *
   * @throws DescriptorException for another kind or version, or a part that is missing, malformed, or does not fit the others
   */
  public static DelayNetwork parse(String json) {
    return new DelayNetwork(Descriptor.parse(json, "network"));
  }

  /**
   * Takes a descriptor that another library has parsed, to maps, lists, texts, numbers and booleans.
   *
   * @throws DescriptorException as for {@link #parse}
   */
  public static DelayNetwork of(Map<String, ?> descriptor) {
    return new DelayNetwork(descriptor);
  }

  private String levelExchange(int level) {
    return switch (preset) {
      case "celery" -> prefix + "_" + level;
      case "custom" -> prefix + ".level-" + (level < 10 ? "0" : "") + level;
      default -> prefix + "-level-" + (level < 10 ? "0" : "") + level;
    };
  }

  /** Whose names and arguments the network has: {@code nservicebus}, {@code nservicebus-v1}, {@code celery} or {@code custom}. */
  public String preset() {
    return preset;
  }

  /** {@code quorum} or {@code classic}. */
  public String queueType() {
    return queueType;
  }

  /** {@code exact}, {@code suffix} or {@code enforced}: how endpoints are bound. */
  public String matching() {
    return matching;
  }

  /** Base of the digits. */
  public int radix() {
    return radix;
  }

  /** Number of digits; a routing key has one word for each. */
  public int levels() {
    return levels;
  }

  /** What the network's names start with. */
  public String prefix() {
    return prefix;
  }

  /** The exchange of each level; the index is the level. */
  public List<String> entryExchanges() {
    return entryExchanges;
  }

  /** The topic exchange that messages reach when their delay is over. */
  public String deliveryExchange() {
    return deliveryExchange;
  }

  /** The topic exchange that endpoints are bound to. */
  public String bindingExchange() {
    return bindingExchange;
  }

  /** The exchange that gets what no binding takes, where the network has one. */
  public Optional<String> parkingExchange() {
    return Optional.ofNullable(parkingExchange);
  }

  /** The queue that gets what no binding takes, where the network has one. */
  public Optional<String> parkingQueue() {
    return Optional.ofNullable(parkingQueue);
  }

  /** The virtual host that the network is in; not in descriptors of version 1. */
  public Optional<String> vhost() {
    return Optional.ofNullable(vhost);
  }

  /** The smallest delay but zero; all delays are multiples of it. */
  public Duration unit() {
    return Duration.ofMillis(unitMs);
  }

  /** The longest delay. */
  public Duration maximumDelay() {
    return maximumDelay;
  }

  /** Bytes of UTF-8 that a destination may have: 255 less two for each level. */
  public int maximumDestinationBytes() {
    return Names.SHORT_STRING_BYTES - 2 * levels;
  }

  /** Whether NServiceBus's clients use the network. */
  public boolean isNServiceBus() {
    return preset.equals("nservicebus") || preset.equals("nservicebus-v1");
  }

  /** As {@link #encode(Duration, String, double)}, without tolerance. */
  public EncodedDelay encode(Duration delay, String destination) {
    return encode(delay, destination, 0);
  }

  /**
   * Turns a delay and a destination into an exchange and a routing key.
   *
   * @param delay is rounded up to the network's unit, never early; a negative one is zero
   * @param destination an endpoint's name, or a key that one of its patterns matches
   * @param tolerance how much longer the delay may be for fewer hops, as a fraction of it: the delay with the fewest hops from {@code delay}
   *     to {@code delay * (1 + tolerance)} is taken
   * @throws DelayException naming {@code delay}, {@code destination} or {@code tolerance}
   */
  public EncodedDelay encode(Duration delay, String destination, double tolerance) {
    long units = unitsOf(delay);
    if (!(tolerance >= 0 && tolerance <= 1e300)) {
      throw new DelayException("tolerance", tolerance + " is not allowed; it must be a fraction from 0, e.g. 0.01 for one percent");
    }
    if (tolerance > 0) units = fewestDigits(units, delay, tolerance);
    if (destination == null) throw new DelayException("destination", "null is not allowed; it must be a text");
    String reason = Names.whyNoDestination(destination, maximumDestinationBytes());
    if (reason != null) throw new DelayException("destination", Names.shown(destination) + " is not allowed; " + reason);
    char[] key = new char[2 * levels];
    int level = 0;
    int hops = 0;
    long rest = units;
    for (int place = 0; place < levels; place++, rest /= radix) {
      int digit = (int) (rest % radix);
      key[2 * (levels - 1 - place)] = DIGITS.charAt(digit);
      key[2 * (levels - 1 - place) + 1] = '.';
      if (digit > 0) {
        level = place;
        hops++;
      }
    }
    return new EncodedDelay(
        entryExchanges.get(level), new String(key).concat(destination), level, Duration.ofMillis(units * unitMs), hops);
  }

  /** Whole units, rounded up: in integers, so that no binary fraction makes a message early. */
  private long unitsOf(Duration delay) {
    if (delay == null) throw new DelayException("delay", "null is not allowed; it must be a duration");
    if (delay.compareTo(maximumDelay) > 0) {
      throw new DelayException("delay", delay + " is not allowed; the network's maximum is " + maximumDelay);
    }
    return delay.isNegative() || delay.isZero() ? 0 : (delay.toNanos() - 1) / (unitMs * 1_000_000) + 1;
  }

  /**
   * The number with the fewest non-zero digits from {@code units} to the tolerated end: {@code units} or one of its roundings up to a power
   * of the radix. Any other in between has at least as many non-zero digits as one of those.
   */
  private long fewestDigits(long units, Duration delay, double tolerance) {
    double delayMs = delay.isNegative() ? 0 : delay.toMillis() + delay.toNanosPart() % 1_000_000 / 1e6;
    long last = (long) Math.floor(Math.min(delayMs * (1 + tolerance) / unitMs, maximumUnits));
    long best = units;
    for (long power = radix; power <= last; power *= radix) {
      long rounded = (units + power - 1) / power * power;
      if (rounded <= last && nonZeroDigits(rounded) < nonZeroDigits(best)) best = rounded;
    }
    return best;
  }

  private int nonZeroDigits(long units) {
    int count = 0;
    for (long rest = units; rest > 0; rest /= radix) if (rest % radix > 0) count++;
    return count;
  }
}
