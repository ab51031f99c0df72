package rabbitmqdelay;

import java.time.Duration;

/** When a call must be over. */
final class Deadline {
  private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

  private final long start = System.nanoTime();
  private final long nanos;

  private Deadline(Duration timeout) {
    nanos = timeout.compareTo(LONGEST) > 0 ? Long.MAX_VALUE : timeout.isNegative() ? 0 : timeout.toNanos();
  }

  /** In 292 years where there is no timeout, or a longer one. */
  static Deadline after(Duration timeoutOrNull) {
    return new Deadline(timeoutOrNull == null ? LONGEST : timeoutOrNull);
  }

  /** Zero when it has passed. */
  long remainingNanos() {
    return Math.max(0, nanos - (System.nanoTime() - start));
  }

  boolean hasPassed() {
    return remainingNanos() == 0;
  }
}
